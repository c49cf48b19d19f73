#include "server/verdict/strata.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

class Divider {
 public:
  Divider(const std::vector<StratifiedHost>& hosts, const StrataLimits& limits)
      : hosts_(hosts), limits_(limits) {}

  void Divide(const std::vector<size_t>& members, size_t key,
              const std::string& name) {
    const size_t keys = hosts_[members.front()].keys.size();
    for (; key < keys; ++key) {
      std::map<std::string, std::vector<size_t>> parts;
      for (const size_t i : members) parts[hosts_[i].keys[key]].push_back(i);
      if (parts.size() == 1) {
        const std::string& only = parts.begin()->first;
        return Divide(members, key + 1, Extended(name, only));
      }
      std::vector<size_t> rest;
      std::map<std::string, std::vector<size_t>> large;
      for (auto& [value, part] : parts) {
        if (IsLargeEnough(part, key)) {
          large.emplace(value, std::move(part));
        } else {
          rest.insert(rest.end(), part.begin(), part.end());
        }
      }
      if (large.empty()) continue;  // this key is given up here
      for (const auto& [value, part] : large) {
        Divide(part, key + 1, Extended(name, value));
      }
      if (!rest.empty()) {
        std::sort(rest.begin(), rest.end());
        Divide(rest, key + 1, Extended(name, "others"));
      }
      return;
    }
    Keep(members, name);
  }

  std::vector<Stratum> Take() { return std::move(strata_); }
  size_t alone() const { return alone_; }

 private:
  static std::string Extended(const std::string& name,
                              const std::string& value) {
    return value.empty() ? name : absl::StrCat(name, " / ", value);
  }

  bool IsLargeEnough(const std::vector<size_t>& members, size_t key) const {
    const size_t per_arm = std::max<size_t>(
        1, key < limits_.firm_keys ? limits_.firm_per_arm : limits_.per_arm);
    const auto treated = static_cast<size_t>(
        std::count_if(members.begin(), members.end(),
                      [&](size_t i) { return hosts_[i].treated; }));
    return treated >= per_arm && members.size() - treated >= per_arm;
  }

  void Keep(const std::vector<size_t>& members, const std::string& name) {
    Stratum stratum;
    stratum.name = name;
    for (const size_t i : members) {
      (hosts_[i].treated ? stratum.treated : stratum.controls).push_back(i);
    }
    if (stratum.treated.empty() || stratum.controls.empty()) {
      alone_ += members.size();
    } else {
      strata_.push_back(std::move(stratum));
    }
  }

  const std::vector<StratifiedHost>& hosts_;
  const StrataLimits& limits_;
  std::vector<Stratum> strata_;
  size_t alone_ = 0;
};

}  // namespace

std::vector<Stratum> MakeStrata(const std::vector<StratifiedHost>& hosts,
                                const StrataLimits& limits, size_t* alone) {
  std::map<int64_t, std::vector<size_t>> waves;
  for (size_t i = 0; i < hosts.size(); ++i) waves[hosts[i].wave].push_back(i);
  Divider divider(hosts, limits);
  for (const auto& [wave, members] : waves) {
    divider.Divide(members, 0, absl::StrCat("wave ", wave));
  }
  if (alone != nullptr) *alone = divider.alone();
  return divider.Take();
}

std::vector<std::string> Terciles(const std::vector<double>& values) {
  std::vector<std::string> names(values.size(), "middle");
  if (values.empty()) return names;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double low = sorted[sorted.size() / 3];
  const double high = sorted[sorted.size() * 2 / 3];
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < low) {
      names[i] = "low";
    } else if (values[i] >= high && high > low) {
      names[i] = "high";
    }
  }
  return names;
}

}  // namespace swaplock
