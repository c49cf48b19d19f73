#include "server/listen_address.h"

#include <arpa/inet.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace swaplock {

bool ListenAddress::IsLoopback() const {
  return is_ipv6 ? host == "::1" : absl::StartsWith(host, "127.");
}

std::string ListenAddress::ToString() const {
  return is_ipv6 ? absl::StrCat("[", host, "]:", port)
                 : absl::StrCat(host, ":", port);
}

absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text) {
  const absl::Status bad = absl::InvalidArgumentError(absl::StrCat(
      "\"", text, "\" is not an address such as 127.0.0.1:7787 or [::1]:0"));
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return bad;
  absl::string_view host = text.substr(0, colon);
  const absl::string_view port = text.substr(colon + 1);
  ListenAddress out;
  uint32_t number = 0;
  if (!absl::SimpleAtoi(port, &number) || number > 65535) return bad;
  out.port = static_cast<uint16_t>(number);
  if (host == "localhost") host = "127.0.0.1";
  out.is_ipv6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
  out.host = std::string(out.is_ipv6 ? host.substr(1, host.size() - 2) : host);
  unsigned char raw[sizeof(in6_addr)];
  if (inet_pton(out.is_ipv6 ? AF_INET6 : AF_INET, out.host.c_str(), raw) != 1) {
    return bad;
  }
  return out;
}

}  // namespace swaplock
