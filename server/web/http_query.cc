#include "server/web/http_query.h"

#include <civetweb.h>

#include <utility>

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

}  // namespace

std::map<std::string, std::string> ParseQuery(absl::string_view query) {
  std::map<std::string, std::string> out;
  for (const absl::string_view pair :
       absl::StrSplit(query, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(pair, absl::MaxSplits('=', 1));
    out[Decode(parts.first)] = Decode(parts.second);
  }
  return out;
}

std::string ValueOf(const std::map<std::string, std::string>& query,
                    const std::string& name) {
  const auto it = query.find(name);
  return it == query.end() ? "" : it->second;
}

}  // namespace swaplock
