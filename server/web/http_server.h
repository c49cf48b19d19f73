// A small HTTP server for GET and HEAD: paths, and functions that answer them.
#ifndef SWAPLOCK_SERVER_WEB_HTTP_SERVER_H_
#define SWAPLOCK_SERVER_WEB_HTTP_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

struct mg_connection;
struct mg_context;

namespace swaplock {

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  // That others may keep it for; zero: not at all.
  absl::Duration max_age = absl::ZeroDuration();
};

class HttpServer {
 public:
  // Takes the query's parameters; called on one of the server's threads.
  using Page =
      std::function<HttpReply(const std::map<std::string, std::string>&)>;

  struct Options {
    std::string address;  // "127.0.0.1:7788" or "[::1]:0"; 0 takes a free port
    // By path; any other one is answered 404.
    std::map<std::string, Page> pages;
    // Whether who sends this Authorization header, "" when there is none, may
    // read; others get 401 whatever they ask for, but the paths in `open`.
    std::function<bool(absl::string_view)> may_read;
    std::set<std::string> open;
  };

  // Unavailable if the port is taken.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options);
  // Waits for answers under way.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }

 private:
  explicit HttpServer(Options options) : options_(std::move(options)) {}
  static int Answer(mg_connection* connection, void* server);
  void Stop();
  HttpReply ReplyTo(mg_connection* connection) const;

  const Options options_;
  mg_context* context_ = nullptr;
  int port_ = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_HTTP_SERVER_H_
