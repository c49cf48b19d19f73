#include "server/http_server.h"

#include <civetweb.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace swaplock {
namespace {

std::string Decode(absl::string_view text) {
  std::string out(text.size() + 1, '\0');
  const int size =
      mg_url_decode(text.data(), static_cast<int>(text.size()), out.data(),
                    static_cast<int>(out.size()), /*is_form_url_encoded=*/1);
  out.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return out;
}

std::map<std::string, std::string> Parameters(const char* query) {
  std::map<std::string, std::string> out;
  if (query == nullptr) return out;
  for (const absl::string_view pair :
       absl::StrSplit(query, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(pair, absl::MaxSplits('=', 1));
    out[Decode(parts.first)] = Decode(parts.second);
  }
  return out;
}

const char* StatusText(int status) {
  switch (status) {
    case 200:
      return "OK";
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

int HttpServer::Answer(mg_connection* connection, void* server) {
  const auto* self = static_cast<const HttpServer*>(server);
  const mg_request_info* request = mg_get_request_info(connection);
  const bool head = std::strcmp(request->request_method, "HEAD") == 0;
  HttpReply reply;
  const auto page = self->pages_.find(request->local_uri);
  if (!head && std::strcmp(request->request_method, "GET") != 0) {
    reply = {405, "text/plain; charset=utf-8", "GET and HEAD only\n"};
  } else if (page == self->pages_.end()) {
    reply = {404, "text/plain; charset=utf-8", "no such page\n"};
  } else {
    reply = page->second(Parameters(request->query_string));
  }
  const std::string header = absl::StrCat(
      "HTTP/1.1 ", reply.status, " ", StatusText(reply.status),
      "\r\nContent-Type: ", reply.content_type,
      "\r\nContent-Length: ", reply.body.size(),
      "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff"
      "\r\nContent-Security-Policy: default-src 'none'; "
      "style-src 'unsafe-inline'\r\nConnection: close\r\n\r\n");
  mg_write(connection, header.data(), header.size());
  if (!head) mg_write(connection, reply.body.data(), reply.body.size());
  return reply.status;
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::string& address, std::map<std::string, Page> pages) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(pages)));
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

HttpServer::~HttpServer() {
  if (context_ != nullptr) mg_stop(context_);
}

}  // namespace swaplock
