#include "server/web/chart.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "server/web/html.h"

namespace swaplock {

std::string Chart(absl::string_view kind, absl::string_view caption,
                  const nlohmann::json& data) {
  if (data.empty()) return "";
  using Json = nlohmann::json;
  // ASCII only; "</script" and "<!--" are the only texts that would matter.
  const std::string json = absl::StrReplaceAll(
      data.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace),
      {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}});
  return absl::StrCat("<figure data-chart=\"", EscapeHtml(kind),
                      "\"><figcaption>", EscapeHtml(caption),
                      "</figcaption><script type=\"application/json\">", json,
                      "</script></figure>\n");
}

}  // namespace swaplock
