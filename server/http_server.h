// A small HTTP server for GET and HEAD: paths, and functions that answer them.
#ifndef SWAPLOCK_SERVER_HTTP_SERVER_H_
#define SWAPLOCK_SERVER_HTTP_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

struct mg_connection;
struct mg_context;

namespace swaplock {

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

class HttpServer {
 public:
  // Takes the query's parameters; called on one of the server's threads.
  using Page =
      std::function<HttpReply(const std::map<std::string, std::string>&)>;

  // Listens on `address`, "127.0.0.1:7788" or "[::1]:0"; port 0 takes a free
  // one. Any other path than those of `pages` is answered 404. Unavailable if
  // the port is taken.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::string& address, std::map<std::string, Page> pages);
  // Waits for answers under way.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }

 private:
  explicit HttpServer(std::map<std::string, Page> pages)
      : pages_(std::move(pages)) {}
  static int Answer(mg_connection* connection, void* server);

  const std::map<std::string, Page> pages_;
  mg_context* context_ = nullptr;
  int port_ = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_HTTP_SERVER_H_
