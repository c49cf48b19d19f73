// The few pieces of HTML that the pages are made of: no scripts, and no
// requests to anywhere else. Text is escaped here and nowhere else.
#ifndef SWAPLOCK_SERVER_WEB_HTML_H_
#define SWAPLOCK_SERVER_WEB_HTML_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace swaplock {

// `text` with & < > " ' as character references.
std::string EscapeHtml(absl::string_view text);

// From <!DOCTYPE> to the heading, which is the title too.
std::string HtmlHead(absl::string_view title);
std::string HtmlEnd();

struct HtmlCell {
  // Implicit: most cells are nothing but text.
  HtmlCell(std::string cell_text)  // NOLINT(google-explicit-constructor)
      : text(std::move(cell_text)) {}
  HtmlCell(const char* cell_text)  // NOLINT(google-explicit-constructor)
      : text(cell_text) {}

  std::string text;
  std::string link;     // path within this server; empty: none
  std::string details;  // lines that open below the text; empty: none
};

struct HtmlTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<HtmlCell>> rows;
  std::string if_empty = "Nothing yet.";
};

// With its title as a heading, and no more than the first 50 of its rows.
std::string Html(const HtmlTable& table);

// "/host?id=..." for any id.
std::string HostLink(absl::string_view host_id);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_HTML_H_
