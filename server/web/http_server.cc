#include "server/web/http_server.h"

#include <civetweb.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "server/web/http_query.h"

namespace swaplock {
namespace {

const char* StatusText(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Service Unavailable";
  }
}

// civetweb's own messages would go to stdout.
int Silent(const mg_connection* /*connection*/, const char* /*message*/) {
  return 1;
}

}  // namespace

HttpReply HttpServer::ReplyTo(mg_connection* connection) const {
  const mg_request_info* request = mg_get_request_info(connection);
  const std::string path = request->local_uri;
  const char* authorization = mg_get_header(connection, "Authorization");
  if (options_.open.count(path) == 0 &&
      !options_.may_read(authorization == nullptr ? "" : authorization)) {
    return {401, "text/plain; charset=utf-8",
            "this server wants a reader's token: as Bearer, or as the "
            "password\n"};
  }
  if (std::strcmp(request->request_method, "GET") != 0 &&
      std::strcmp(request->request_method, "HEAD") != 0) {
    return {405, "text/plain; charset=utf-8", "GET and HEAD only\n"};
  }
  const auto page = options_.pages.find(path);
  if (page == options_.pages.end()) {
    return {404, "text/plain; charset=utf-8", "no such page\n"};
  }
  return page->second(ParseQuery(
      request->query_string == nullptr ? "" : request->query_string));
}

int HttpServer::Answer(mg_connection* connection, void* server) {
  const HttpReply reply =
      static_cast<const HttpServer*>(server)->ReplyTo(connection);
  const mg_request_info* request = mg_get_request_info(connection);
  const bool head = std::strcmp(request->request_method, "HEAD") == 0;
  const std::string header = absl::StrCat(
      "HTTP/1.1 ", reply.status, " ", StatusText(reply.status),
      reply.status == 401 ? "\r\nWWW-Authenticate: Basic realm=\"swaplock\""
                          : "",
      "\r\nContent-Type: ", reply.content_type,
      "\r\nContent-Length: ", reply.body.size(), "\r\nCache-Control: ",
      reply.max_age > absl::ZeroDuration()
          ? absl::StrCat("max-age=", absl::ToInt64Seconds(reply.max_age))
          : "no-store",
      "\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: same-origin"
      // Charts set styles of their own elements.
      "\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; "
      "style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; "
      "form-action 'none'; frame-ancestors 'none'"
      "\r\nConnection: close\r\n\r\n");
  mg_write(connection, header.data(), header.size());
  if (!head) mg_write(connection, reply.body.data(), reply.body.size());
  return reply.status;
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    Options server_options) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(server_options)));
  const std::string& address = server->options_.address;
  mg_callbacks callbacks = {};
  callbacks.log_message = Silent;
  const char* options[] = {"listening_ports",
                           address.c_str(),
                           "num_threads",
                           "8",
                           "request_timeout_ms",
                           "10000",
                           "enable_keep_alive",
                           "no",
                           nullptr};
  server->context_ = mg_start(&callbacks, nullptr, options);
  if (server->context_ == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("listen for HTTP on ", address,
                     ": the address is in use or cannot be bound"));
  }
  mg_server_port port = {};
  if (mg_get_server_ports(server->context_, 1, &port) == 1) {
    server->port_ = port.port;
  }
  mg_set_request_handler(server->context_, "**", Answer, server.get());
  return server;
}

// civetweb looks whether it is to end each time a connection comes, else every
// two seconds: one is made until it has.
void HttpServer::Stop() {
  std::atomic<bool> ended = false;
  std::thread stopper([this, &ended] {
    mg_stop(context_);
    ended = true;
  });
  std::string host = options_.address.substr(0, options_.address.rfind(':'));
  if (host.size() > 2 && host.front() == '[') {
    host = host.substr(1, host.size() - 2);
  }
  while (!ended) {
    char error[128];
    mg_connection* knock = mg_connect_client(host.c_str(), port_, /*use_ssl=*/0,
                                             error, sizeof(error));
    if (knock != nullptr) mg_close_connection(knock);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  stopper.join();
}

HttpServer::~HttpServer() {
  if (context_ != nullptr) Stop();
}

}  // namespace swaplock
