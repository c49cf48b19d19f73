// The few pieces of HTML that the pages are made of. Nothing is requested from
// anywhere else. Text is escaped here and nowhere else.
#ifndef SWAPLOCK_SERVER_WEB_HTML_H_
#define SWAPLOCK_SERVER_WEB_HTML_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace swaplock {

// `text` with & < > " ' as character references.
std::string EscapeHtml(absl::string_view text);

// From <!DOCTYPE> to the heading, which is the title too. `path` is the page's:
// navigation marks it, or the one it belongs to.
std::string HtmlHead(absl::string_view title, absl::string_view path = "");
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
  size_t most_rows = 50;
};

// With its title as a heading, and no more than the first `most_rows`.
std::string Html(const HtmlTable& table);

// A number with its name, for HtmlTiles.
struct HtmlTile {
  std::string name;
  std::string value;
  std::string mood = "";  // "good", "bad" or neither
};
std::string HtmlTiles(const std::vector<HtmlTile>& tiles);

// A whole page with a notice between its navigation and its content.
std::string WithNotice(std::string page, absl::string_view notice);

// A paragraph that explains.
std::string HtmlNote(absl::string_view text);

// As the value of a URL's parameter.
std::string EscapeQuery(absl::string_view text);

// "/host?id=..." for any id.
std::string HostLink(absl::string_view host_id);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_WEB_HTML_H_
