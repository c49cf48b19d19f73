#include "cli/top/screen.h"

#include <locale.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

// Last: it defines macros of many names.
#include <curses.h>

namespace swaplock {
namespace {

constexpr short kTroublePair = 1;
constexpr short kTitlePair = 2;

attr_t AttributesOf(FleetView::Style style, bool colors) {
  switch (style) {
    case FleetView::Style::kTitle:
      return A_BOLD | (colors ? COLOR_PAIR(kTitlePair) : 0);
    case FleetView::Style::kHeader:
      return A_BOLD | A_UNDERLINE;
    case FleetView::Style::kSelected:
      return A_REVERSE;
    case FleetView::Style::kTrouble:
      return A_BOLD | (colors ? COLOR_PAIR(kTroublePair) : 0);
    case FleetView::Style::kFooter:
      return A_DIM;
    case FleetView::Style::kPlain:
      return A_NORMAL;
  }
  return A_NORMAL;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Screen>> Screen::Open() {
  setlocale(LC_CTYPE, "");  // so that UTF-8 is written as such
  if (newterm(nullptr, stdout, stdin) == nullptr) {
    return absl::InvalidArgumentError(
        "this terminal's kind ($TERM) is not known: set it, or use --once");
  }
  std::unique_ptr<Screen> screen(new Screen());
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  set_escdelay(25);
  curs_set(0);
  if (has_colors() && std::getenv("NO_COLOR") == nullptr) {
    start_color();
    use_default_colors();
    init_pair(kTroublePair, COLOR_RED, -1);
    init_pair(kTitlePair, COLOR_CYAN, -1);
    screen->colors_ = true;
  }
  return screen;
}

Screen::~Screen() { endwin(); }

size_t Screen::rows() const { return static_cast<size_t>(std::max(LINES, 0)); }

size_t Screen::columns() const {
  return static_cast<size_t>(std::max(COLS, 0));
}

void Screen::Show(const std::vector<FleetView::Line>& lines) {
  erase();
  for (size_t i = 0; i < lines.size(); ++i) {
    const attr_t attributes = AttributesOf(lines[i].style, colors_);
    attron(attributes);
    mvaddstr(static_cast<int>(i), 0, lines[i].text.c_str());
    attroff(attributes);
  }
  refresh();
}

int Screen::WaitForKey(absl::Duration patience) {
  const int64_t ms =
      std::clamp<int64_t>(absl::ToInt64Milliseconds(patience), 0, 1'000'000);
  timeout(static_cast<int>(ms));
  const int key = getch();
  switch (key) {
    case ERR: {
      pollfd input = {STDIN_FILENO, POLLIN, 0};
      const bool gone = poll(&input, 1, 0) > 0 &&
                        ((input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0);
      return gone ? -1 : 0;
    }
    case KEY_RESIZE:
      return 0;
    case KEY_UP:
      return kKeyUp;
    case KEY_DOWN:
      return kKeyDown;
    case KEY_PPAGE:
      return kKeyPageUp;
    case KEY_NPAGE:
      return kKeyPageDown;
    case KEY_HOME:
      return kKeyHome;
    case KEY_END:
      return kKeyEnd;
    default:
      return key > 0 && key < 256 ? key : 0;
  }
}

}  // namespace swaplock
