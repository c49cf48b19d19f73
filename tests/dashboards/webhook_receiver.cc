// Takes what Alertmanager posts: `webhook_receiver PORT_FILE OUT` listens on a
// free port of the loopback, writes its number to PORT_FILE and each body as a
// line of JSON to OUT, until it is killed.
#include <httplib.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: webhook_receiver PORT_FILE OUT\n");
    return 2;
  }
  std::ofstream out(argv[2], std::ios::app);
  httplib::Server server;
  server.Post("/alerts", [&out](const httplib::Request& request,
                                httplib::Response& /*response*/) {
    std::string line = request.body;
    std::replace(line.begin(), line.end(), '\n', ' ');
    out << line << std::endl;
  });
  server.new_task_queue = [] { return new httplib::ThreadPool(1); };
  const int port = server.bind_to_any_port("127.0.0.1");
  if (port < 0) {
    std::fprintf(stderr, "webhook_receiver: no port to listen on\n");
    return 69;
  }
  const std::string name = argv[1];
  std::ofstream(name + ".new") << port << std::endl;
  std::rename((name + ".new").c_str(), name.c_str());
  return server.listen_after_bind() ? 0 : 69;
}
