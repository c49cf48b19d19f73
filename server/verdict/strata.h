// Which hosts are compared with which: strata of properties that the kernel
// does not change, fixed by data from before the upgrade.
#ifndef SWAPLOCK_SERVER_VERDICT_STRATA_H_
#define SWAPLOCK_SERVER_VERDICT_STRATA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace swaplock {

struct StratifiedHost {
  bool treated = false;
  int64_t wave = 0;               // never given up
  std::vector<std::string> keys;  // the same number for all hosts; most
                                  // important first
};

struct Stratum {
  std::string name;             // "wave 2871 / amd / 64 / zram"
  std::vector<size_t> treated;  // indices of the hosts given
  std::vector<size_t> controls;
};

struct StrataLimits {
  size_t per_arm = 8;  // hosts of either arm in a part, at least
  // The first keys divide down to parts of fewer hosts.
  size_t firm_keys = 0;
  size_t firm_per_arm = 3;
};

// Divides each wave by one key after the other, as long as parts of enough
// hosts of each arm come out; what remains of a division stays together, less
// finely divided. Strata in which one arm is empty are left out: `alone` (if
// not null) counts their hosts. By wave, then by key.
std::vector<Stratum> MakeStrata(const std::vector<StratifiedHost>& hosts,
                                const StrataLimits& limits, size_t* alone);

// "low", "middle" or "high" for each value, by the terciles of all of them;
// equal values are named alike.
std::vector<std::string> Terciles(const std::vector<double>& values);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_STRATA_H_
