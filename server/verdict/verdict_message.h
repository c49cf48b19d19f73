// A verdict's record as a message, for the ledger and for answers, and back.
// Equal records give equal bytes (the messages have no maps).
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_MESSAGE_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_MESSAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/verdict.pb.h"
#include "server/verdict/rollout_rules.h"
#include "server/verdict/verdict_record.h"

namespace swaplock {

v1::VerdictRecord ToProto(const VerdictRecord& record);
v1::VerdictRules ToProto(const RolloutRules& rules);

// InvalidArgument, in one sentence, for names that this version does not know.
absl::StatusOr<VerdictRecord> FromProto(const v1::VerdictRecord& message);
RolloutRules FromProto(const v1::VerdictRules& message);

std::string Serialize(const VerdictRecord& record);
// DataLoss when the bytes are none.
absl::StatusOr<VerdictRecord> ParseVerdictRecord(absl::string_view bytes);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_MESSAGE_H_
