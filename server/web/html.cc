#include "server/web/html.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace swaplock {
namespace {

// Text of more bytes may take several lines.
constexpr size_t kLongText = 80;

struct Place {
  const char* path;
  const char* name;
};

// Where each page leads, in order.
constexpr char kMain[] = "<main id=\"main\">\n";

constexpr Place kPlaces[] = {
    {"/", "Fleet"},      {"/kernels", "Kernels"},   {"/verdicts", "Verdicts"},
    {"/holds", "Holds"}, {"/coverage", "Coverage"}, {"/pipeline", "Pipeline"},
};

std::string Navigation(absl::string_view path) {
  std::string out = "<nav aria-label=\"Pages\">";
  for (const Place& place : kPlaces) {
    absl::StrAppend(&out, "<a href=\"", place.path, "\"",
                    path == place.path ? " aria-current=\"page\"" : "", ">",
                    place.name, "</a>");
  }
  return absl::StrCat(out, "</nav>\n");
}

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

std::string HtmlHead(absl::string_view title, absl::string_view path) {
  const std::string escaped = EscapeHtml(title);
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>",
      escaped, title == "swaplock" ? "" : " - swaplock",
      "</title>\n<link rel=\"icon\" href=\"data:,\">\n"
      "<link rel=\"stylesheet\" href=\"/assets/page.css\">\n"
      "<script defer src=\"/assets/charts.js\"></script>\n</head>\n<body>\n"
      "<a class=\"skip\" href=\"#main\">To the content</a>\n",
      Navigation(path), kMain, "<h1>", escaped, "</h1>\n");
}

std::string HtmlEnd() { return "</main>\n</body>\n</html>\n"; }

std::string HtmlTiles(const std::vector<HtmlTile>& tiles) {
  std::string out = "<dl class=\"tiles\">";
  for (const HtmlTile& tile : tiles) {
    absl::StrAppend(&out, "<div",
                    tile.mood.empty() ? "" : " class=\"" + tile.mood + "\"",
                    "><dt>", EscapeHtml(tile.name), "</dt><dd>",
                    EscapeHtml(tile.value), "</dd></div>");
  }
  return absl::StrCat(out, "</dl>\n");
}

std::string WithNotice(std::string page, absl::string_view notice) {
  const size_t at = page.find(kMain);
  if (at == std::string::npos) return page;
  page.insert(at, absl::StrCat("<aside class=\"notice\" aria-label=\"Notice\">",
                               EscapeHtml(notice), "</aside>\n"));
  return page;
}

std::string HtmlNote(absl::string_view text) {
  return absl::StrCat("<p class=\"note\">", EscapeHtml(text), "</p>\n");
}

std::string Html(const HtmlTable& table) {
  std::string out = absl::StrCat("<h2>", EscapeHtml(table.title), "</h2>\n");
  if (table.rows.empty()) {
    return absl::StrCat(out, "<p>", EscapeHtml(table.if_empty), "</p>\n");
  }
  absl::StrAppend(
      &out,
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
      EscapeHtml(table.title), "\"><table>\n<thead><tr>");
  for (const std::string& column : table.columns) {
    absl::StrAppend(&out, "<th scope=\"col\">", EscapeHtml(column), "</th>");
  }
  absl::StrAppend(&out, "</tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < std::min(table.rows.size(), table.most_rows); ++i) {
    absl::StrAppend(&out, "<tr>");
    for (const HtmlCell& cell : table.rows[i]) {
      absl::StrAppend(
          &out, cell.text.size() > kLongText ? "<td class=\"long\">" : "<td>",
          CellHtml(cell), "</td>");
    }
    absl::StrAppend(&out, "</tr>\n");
  }
  absl::StrAppend(&out, "</tbody>\n</table></div>\n");
  if (table.rows.size() > table.most_rows) {
    absl::StrAppend(&out, "<p>and ", table.rows.size() - table.most_rows,
                    " more</p>\n");
  }
  return out;
}

std::string EscapeQuery(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || c == '-' || c == '.' || c == '_') {
      out.push_back(c);
    } else {
      absl::StrAppendFormat(&out, "%%%02X", byte);
    }
  }
  return out;
}

std::string HostLink(absl::string_view host_id) {
  return absl::StrCat("/host?id=", EscapeQuery(host_id));
}

}  // namespace swaplock
