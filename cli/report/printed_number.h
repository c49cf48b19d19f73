// Numbers as the report and the comparison print them: thousands separators,
// three significant digits for what was measured and all of them for what was
// counted, times in ns, us, ms or s, "median (min-max)" of repetitions, and
// changes in percent below a factor of two and as "x" from there on. ASCII.
//
// Pure functions.
#ifndef SWAPLOCK_CLI_REPORT_PRINTED_NUMBER_H_
#define SWAPLOCK_CLI_REPORT_PRINTED_NUMBER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace swaplock {

enum class Unit {
  kCount,        // a whole number, unless it is a median
  kPerSecond,    //
  kNanoseconds,  // printed in the unit that gives it one to three digits
  kShare,        // 0 to 1, printed in percent
};
// "count", "per_second", "ns", "share": for programs, with the plain value.
absl::string_view Name(Unit unit);

// What repetitions of a run came to. median is the middle one, or the mean of
// the two in the middle.
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
  size_t runs = 0;  // at least 1
};
// Nothing for no values.
std::optional<Spread> SpreadOf(std::vector<double> values);

// "1,234,567".
std::string WithSeparators(uint64_t value);

// Three significant digits of a number of at least 0, more above 1,000 and two
// below 1: "0", "0.072", "22.3", "2,542".
std::string Significant(double value);

// "1,234", "12.5" (a median); "8,123", "12.3"; "22.3 ms", "812 ns"; "76.7%".
// Shares that are not all are not "100%" but ">99.9%".
std::string Printed(double value, Unit unit);

// "22.3 (21.6-22.6) ms", in the unit of the median; of one run as above.
std::string Printed(const Spread& spread, Unit unit);

// A time in a unit that others in the row have too.
struct TimeUnit {
  double ns = 1;
  absl::string_view name = "ns";
};
// The one in which `ns` has one to three digits before the point.
TimeUnit TimeUnitFor(double ns);

// What `now` is against `base`, both at least 0: "+43.8%", "-19.5%", and from a
// factor of two on "+5.6x", "-182x". "same" for equal ones; "-100%" for a fall
// to 0, "from 0" for a rise from there.
std::string PrintedChange(double base, double now);

}  // namespace swaplock

#endif  // SWAPLOCK_CLI_REPORT_PRINTED_NUMBER_H_
