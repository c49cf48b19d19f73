#include "server/verdict/verdict_listing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace swaplock {
namespace {

int RankOf(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kRegression:
      return 0;
    case VerdictKind::kMixed:
      return 1;
    case VerdictKind::kSuspect:
      return 2;
    case VerdictKind::kDataQuality:
      return 3;
    case VerdictKind::kInconclusive:
      return 4;
    case VerdictKind::kNotComparable:
      return 5;
    case VerdictKind::kImprovement:
      return 6;
    case VerdictKind::kNoMaterialChange:
      return 7;
    case VerdictKind::kUnspecified:
      break;
  }
  return 8;
}

// Of a number that may be NaN, which comes last.
double Downwards(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : -value;
}

auto OrderOf(const VerdictRecord& r) {
  return std::make_tuple(Downwards(r.effect.lower), Downwards(r.effect.ratio),
                         r.subsystem, r.operation, r.outcome);
}

template <typename T>
bool ChosenIn(const std::vector<T>& wanted, T value) {
  return wanted.empty() ||
         std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool ChosenBy(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

}  // namespace

bool Fits(const StoredVerdict& verdict, const VerdictFilter& filter) {
  const VerdictRecord& r = verdict.record;
  return ChosenBy(filter.kernel_base, r.kernel_base) &&
         ChosenBy(filter.kernel_new, r.kernel_new) &&
         (ChosenBy(filter.kernel, r.kernel_base) ||
          ChosenBy(filter.kernel, r.kernel_new)) &&
         ChosenIn(filter.kinds, r.kind) &&
         (filter.subsystem == Subsystem::kUnspecified ||
          filter.subsystem == r.subsystem) &&
         (filter.operation == Operation::kUnspecified ||
          filter.operation == r.operation) &&
         ChosenIn(filter.states, verdict.mark.state) &&
         (filter.incident == 0 || filter.incident == verdict.incident);
}

VerdictBook Chosen(const VerdictBook& book, const VerdictFilter& filter) {
  VerdictBook out;
  for (const StoredVerdict& verdict : book.verdicts) {
    if (Fits(verdict, filter)) out.verdicts.push_back(verdict);
  }
  out.incidents = book.incidents;
  out.pairs = book.pairs;
  out.self_test = book.self_test;
  out.judged = book.judged;
  out.remark = book.remark;
  return out;
}

bool ComesFirst(const VerdictRecord& a, const VerdictRecord& b) {
  if (RankOf(a.kind) != RankOf(b.kind)) return RankOf(a.kind) < RankOf(b.kind);
  return OrderOf(a) < OrderOf(b);
}

bool ComesFirst(const StoredVerdict& a, const StoredVerdict& b) {
  const int a_rank = RankOf(a.record.kind);
  const int b_rank = RankOf(b.record.kind);
  if (a_rank != b_rank) return a_rank < b_rank;
  if (a.alerts != b.alerts) return a.alerts;
  return OrderOf(a.record) < OrderOf(b.record);
}

std::vector<PairListing> ListByPair(const VerdictBook& book) {
  std::vector<PairListing> out;
  std::map<std::pair<std::string, std::string>, size_t> index;
  for (const StoredVerdict& verdict : book.verdicts) {
    const VerdictRecord& r = verdict.record;
    const auto [it, is_new] =
        index.emplace(std::make_pair(r.kernel_base, r.kernel_new), out.size());
    if (is_new) {
      out.emplace_back();
      out.back().pair = {r.kernel_base, r.kernel_new};
    }
    out[it->second].verdicts.push_back(&verdict);
  }
  const auto listing_of = [&](const KernelPair& pair) -> PairListing* {
    const auto it = index.find({pair.base, pair.newer});
    return it == index.end() ? nullptr : &out[it->second];
  };
  for (const Incident& incident : book.incidents) {
    PairListing* listing = listing_of(incident.pair);
    if (listing != nullptr && listing->incident == nullptr &&
        incident.closed == absl::InfiniteFuture()) {
      listing->incident = &incident;
    }
  }
  for (const JudgedPair& pair : book.pairs) {
    PairListing* listing = listing_of(pair.pair);
    if (listing != nullptr) listing->judged = &pair;
  }
  for (PairListing& listing : out) {
    std::stable_sort(listing.verdicts.begin(), listing.verdicts.end(),
                     [](const StoredVerdict* a, const StoredVerdict* b) {
                       return ComesFirst(*a, *b);
                     });
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const PairListing& a, const PairListing& b) {
                     return ComesFirst(*a.verdicts[0], *b.verdicts[0]);
                   });
  return out;
}

bool IsRegression(const StoredVerdict& verdict) {
  return verdict.record.kind == VerdictKind::kRegression &&
         verdict.went_away.empty();
}

}  // namespace swaplock
