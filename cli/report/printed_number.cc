#include "cli/report/printed_number.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace swaplock {
namespace {

std::string Count(double value) {
  const double whole = std::floor(value);
  const std::string text = WithSeparators(static_cast<uint64_t>(whole));
  return value == whole ? text : absl::StrCat(text, ".5");
}

// A share in percent, without the sign.
std::string Percent(double share) {
  const double percent = 100 * share;
  if (percent >= 99.95 && percent < 100) return ">99.9";
  return percent == 100 ? "100" : Significant(percent);
}

}  // namespace

absl::string_view Name(Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return "count";
    case Unit::kPerSecond:
      return "per_second";
    case Unit::kNanoseconds:
      return "ns";
    case Unit::kShare:
      return "share";
  }
  return "";
}

std::optional<Spread> SpreadOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  Spread spread;
  spread.runs = values.size();
  spread.min = values.front();
  spread.max = values.back();
  spread.median = values.size() % 2 == 1
                      ? values[middle]
                      : (values[middle - 1] + values[middle]) / 2;
  return spread;
}

std::string WithSeparators(uint64_t value) {
  std::string text = absl::StrCat(value);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string Significant(double value) {
  if (!(value > 0)) return "0";
  if (value >= 999.5) {
    return WithSeparators(static_cast<uint64_t>(std::round(value)));
  }
  if (value >= 99.95) return absl::StrFormat("%.0f", value);
  if (value >= 9.995) return absl::StrFormat("%.1f", value);
  if (value >= 0.995) return absl::StrFormat("%.2f", value);
  const int decimals = 1 - static_cast<int>(std::floor(std::log10(value)));
  return absl::StrFormat("%.*f", std::min(decimals, 9), value);
}

TimeUnit TimeUnitFor(double ns) {
  // 999.5 would be printed as 1,000 of the smaller unit.
  if (ns < 999.5) return {1, "ns"};
  if (ns < 999.5e3) return {1e3, "us"};
  if (ns < 999.5e6) return {1e6, "ms"};
  return {1e9, "s"};
}

std::string Printed(double value, Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return Count(value);
    case Unit::kPerSecond:
      return Significant(value);
    case Unit::kShare:
      return absl::StrCat(Percent(value), "%");
    case Unit::kNanoseconds:
      break;
  }
  if (!(value > 0)) return "0";
  const TimeUnit time = TimeUnitFor(value);
  // Whole nanoseconds are all there are.
  const bool whole = time.ns == 1 && value == std::floor(value);
  return absl::StrCat(whole ? Count(value) : Significant(value / time.ns), " ",
                      time.name);
}

std::string Printed(const Spread& spread, Unit unit) {
  if (spread.min == spread.max) return Printed(spread.median, unit);
  const auto three = [&spread](const auto& print, absl::string_view after) {
    return absl::StrCat(print(spread.median), " (", print(spread.min), "-",
                        print(spread.max), ")", after);
  };
  switch (unit) {
    case Unit::kCount:
      return three(Count, "");
    case Unit::kPerSecond:
      return three(Significant, "");
    case Unit::kShare:
      return three(Percent, " %");
    case Unit::kNanoseconds:
      break;
  }
  const TimeUnit time =
      TimeUnitFor(spread.median > 0 ? spread.median : spread.max);
  return three([&time](double ns) { return Significant(ns / time.ns); },
               absl::StrCat(" ", time.name));
}

std::string PrintedChange(double base, double now) {
  if (base == now) return "same";
  if (base <= 0) return "from 0";
  if (now <= 0) return "-100%";
  const double ratio = std::max(now / base, base / now);
  const char* const sign = now > base ? "+" : "-";
  if (ratio < 2) {
    return absl::StrFormat("%s%.1f%%", sign, 100 * std::abs(now - base) / base);
  }
  if (ratio < 99.95) return absl::StrFormat("%s%.1fx", sign, ratio);
  if (ratio < 1e18) {
    return absl::StrCat(
        sign, WithSeparators(static_cast<uint64_t>(std::round(ratio))), "x");
  }
  return absl::StrFormat("%s%.1ex", sign, ratio);
}

}  // namespace swaplock
