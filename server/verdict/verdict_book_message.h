// A book of verdicts as a message, for answers over gRPC and as JSON, and back
// for who asked.
//
// There and back gives the same values, but for times: they have nanoseconds,
// and those that are infinite come back so.
#ifndef SWAPLOCK_SERVER_VERDICT_VERDICT_BOOK_MESSAGE_H_
#define SWAPLOCK_SERVER_VERDICT_VERDICT_BOOK_MESSAGE_H_

#include "absl/status/statusor.h"
#include "proto/verdict_query.pb.h"
#include "server/verdict/verdict_book.h"
#include "server/verdict/verdict_desk.h"

namespace swaplock {

v1::StoredVerdict ToProto(const StoredVerdict& verdict);
v1::Incident ToProto(const Incident& incident);
v1::Holdback ToProto(const Holdback& holdback);
v1::JudgedPair ToProto(const JudgedPair& pair);
v1::SelfTestReport ToProto(const SelfTestReport& report);
v1::VerdictBook ToProto(const VerdictBook& book);
v1::KernelComparison ToProto(const PairComparison& comparison);

// InvalidArgument, in one sentence, for names that this version does not know.
absl::StatusOr<StoredVerdict> FromProto(const v1::StoredVerdict& message);
Incident FromProto(const v1::Incident& message);
Holdback FromProto(const v1::Holdback& message);
JudgedPair FromProto(const v1::JudgedPair& message);
absl::StatusOr<SelfTestReport> FromProto(const v1::SelfTestReport& message);
absl::StatusOr<VerdictBook> FromProto(const v1::VerdictBook& message);
absl::StatusOr<PairComparison> FromProto(const v1::KernelComparison& message);

}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_VERDICT_VERDICT_BOOK_MESSAGE_H_
