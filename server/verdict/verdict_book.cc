#include "server/verdict/verdict_book.h"

namespace swaplock {

absl::string_view Name(VerdictState state) {
  switch (state) {
    case VerdictState::kAcknowledged:
      return "acknowledged";
    case VerdictState::kSuppressed:
      return "suppressed";
    case VerdictState::kNew:
      break;
  }
  return "new";
}

const StoredVerdict* FindVerdict(const VerdictBook& book, uint64_t id) {
  for (const StoredVerdict& verdict : book.verdicts) {
    if (verdict.id == id) return &verdict;
  }
  return nullptr;
}

}  // namespace swaplock
