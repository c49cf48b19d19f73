// What `swaplock top` shows on a full screen, apart from the screen: tables of
// locks, operations, holds and hosts, sorted and scrolled by keys. Numbers per
// second are differences between two looks.
//
// A number that is not measured reads "-" and sorts last. Not thread-safe.
#ifndef SWAPLOCK_CLI_TOP_FLEET_VIEW_H_
#define SWAPLOCK_CLI_TOP_FLEET_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/cell.h"
#include "proto/query.pb.h"

namespace swaplock {

// Keys that are no characters; the others are their ASCII codes.
enum ViewKey : int {
  kKeyUp = 0x1000,
  kKeyDown,
  kKeyPageUp,
  kKeyPageDown,
  kKeyHome,
  kKeyEnd,
};

class FleetView {
 public:
  // `source` is what the title names: a server or this host.
  explicit FleetView(std::string source);

  // A look at the fleet. Of a paused view it changes nothing.
  void Take(const v1::Fleet& fleet, absl::Time now);
  // The last look failed; the screen says so beside what there was before.
  void Failed(absl::string_view why) { trouble_ = std::string(why); }

  // False when the key ends it.
  bool Press(int key);

  enum class Style { kPlain, kTitle, kHeader, kSelected, kTrouble, kFooter };
  struct Line {
    std::string text;
    Style style = Style::kPlain;
  };
  // Exactly `rows` lines or fewer, none longer than `columns` characters.
  std::vector<Line> Draw(size_t rows, size_t columns);

 private:
  enum Page { kLocks, kOperations, kHolds, kHosts, kPages };

  struct Column {
    std::string title;
    bool right = true;
    int drop = 0;  // as in TextTable
  };
  struct Row {
    std::vector<std::string> texts;   // one per column
    std::vector<double> sort_values;  // as many; NaN sorts last
    std::string details;              // lines about the row when it is chosen
  };
  struct Table {
    std::vector<Column> columns;
    std::vector<Row> rows;
  };
  struct Look {
    v1::Fleet fleet;
    absl::Time time;
  };

  Table MakeTable() const;
  Table Locks() const;
  Table Operations() const;
  Table Holds() const;
  Table Hosts() const;
  std::vector<Line> HelpLines() const;
  bool Shows(const std::string& kernel) const;
  void Sort(Table* table) const;
  // The same cell in the look before; null when there was none.
  const Cell* Before(const std::string& id) const;
  double SecondsBetween() const;

  const std::string source_;
  Look now_;
  Look before_;
  std::map<std::string, Cell> cells_before_;
  std::string trouble_;
  Page page_ = kLocks;
  size_t sort_column_[kPages];
  bool ascending_ = false;
  bool paused_ = false;
  bool help_ = false;
  size_t chosen_ = 0;
  size_t first_ = 0;    // row at the top
  size_t visible_ = 1;  // rows that fit
  std::string kernel_;  // shown alone; empty: all
};

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_TOP_FLEET_VIEW_H_
