// An evaluation as a message, for the ledger, and back.
#ifndef SWAPLOCK_SERVER_JUDGE_EVALUATION_MESSAGE_H_
#define SWAPLOCK_SERVER_JUDGE_EVALUATION_MESSAGE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/verdict.pb.h"
#include "server/judge/evaluation.h"

namespace swaplock {

v1::VerdictEvaluation ToProto(const Evaluation& evaluation);
Evaluation FromProto(const v1::VerdictEvaluation& message);

// DataLoss when the bytes are none.
absl::StatusOr<Evaluation> ParseEvaluation(absl::string_view bytes);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_JUDGE_EVALUATION_MESSAGE_H_
