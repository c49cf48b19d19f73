#include "server/verdict/verdict_kind.h"

namespace swaplock {

absl::string_view Name(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kRegression:
      return "regression";
    case VerdictKind::kImprovement:
      return "improvement";
    case VerdictKind::kNoMaterialChange:
      return "no_material_change";
    case VerdictKind::kMixed:
      return "mixed";
    case VerdictKind::kSuspect:
      return "suspect";
    case VerdictKind::kInconclusive:
      return "inconclusive";
    case VerdictKind::kNotComparable:
      return "not_comparable";
    case VerdictKind::kDataQuality:
      return "data_quality";
    case VerdictKind::kUnspecified:
      break;
  }
  return "unspecified";
}

}  // namespace swaplock
