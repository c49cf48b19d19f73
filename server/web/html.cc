#include "server/web/html.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace swaplock {
namespace {

constexpr size_t kMaxRows = 50;
// Text of more bytes may take several lines.
constexpr size_t kLongText = 80;

constexpr char kStyle[] = R"html(<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 1.5em; color: #1a1a1a; }
table { border-collapse: collapse; margin: 0 0 1.5em; }
th, td { padding: .25em .7em; border-bottom: 1px solid #ccc; text-align: left;
  vertical-align: top; white-space: nowrap; }
.long, th { white-space: normal; }
div { overflow-x: auto; }
h2 { margin: 1em 0 .4em; font-size: 1.15em; }
pre { margin: .3em 0; font-size: .85em; white-space: pre-wrap;
  width: 34em; }
summary { cursor: pointer; }
</style>
)html";

std::string CellHtml(const HtmlCell& cell) {
  std::string text = EscapeHtml(cell.text);
  if (!cell.link.empty()) {
    text =
        absl::StrCat("<a href=\"", EscapeHtml(cell.link), "\">", text, "</a>");
  }
  if (cell.details.empty()) return text;
  return absl::StrCat("<details><summary>", text, "</summary><pre>",
                      EscapeHtml(cell.details), "</pre></details>");
}

}  // namespace

std::string EscapeHtml(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"},
                                    {"<", "&lt;"},
                                    {">", "&gt;"},
                                    {"\"", "&quot;"},
                                    {"'", "&#39;"}});
}

std::string HtmlHead(absl::string_view title) {
  const std::string escaped = EscapeHtml(title);
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>",
      escaped, "</title>\n", kStyle, "</head>\n<body>\n<h1>", escaped,
      "</h1>\n");
}

std::string HtmlEnd() { return "</body>\n</html>\n"; }

std::string Html(const HtmlTable& table) {
  std::string out = absl::StrCat("<h2>", EscapeHtml(table.title), "</h2>\n");
  if (table.rows.empty()) {
    return absl::StrCat(out, "<p>", EscapeHtml(table.if_empty), "</p>\n");
  }
  absl::StrAppend(&out, "<div><table>\n<thead><tr>");
  for (const std::string& column : table.columns) {
    absl::StrAppend(&out, "<th scope=\"col\">", EscapeHtml(column), "</th>");
  }
  absl::StrAppend(&out, "</tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < std::min(table.rows.size(), kMaxRows); ++i) {
    absl::StrAppend(&out, "<tr>");
    for (const HtmlCell& cell : table.rows[i]) {
      absl::StrAppend(
          &out, cell.text.size() > kLongText ? "<td class=\"long\">" : "<td>",
          CellHtml(cell), "</td>");
    }
    absl::StrAppend(&out, "</tr>\n");
  }
  absl::StrAppend(&out, "</tbody>\n</table></div>\n");
  if (table.rows.size() > kMaxRows) {
    absl::StrAppend(&out, "<p>and ", table.rows.size() - kMaxRows,
                    " more</p>\n");
  }
  return out;
}

std::string HostLink(absl::string_view host_id) {
  std::string out = "/host?id=";
  for (const char c : host_id) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || c == '-' || c == '.' || c == '_') {
      out.push_back(c);
    } else {
      absl::StrAppendFormat(&out, "%%%02X", byte);
    }
  }
  return out;
}

}  // namespace swaplock
