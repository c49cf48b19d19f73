#include "cli/query/verdict_question.h"

#include <google/protobuf/descriptor.h>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/plain_text.h"

namespace swaplock {
namespace {

// The number of the enumerator PREFIXword, without the first, unspecified one.
absl::StatusOr<int> NumberOf(const google::protobuf::EnumDescriptor* type,
                             absl::string_view prefix, absl::string_view flag,
                             const std::string& word) {
  std::vector<std::string> words;
  const std::string wanted =
      absl::StrReplaceAll(absl::AsciiStrToLower(word), {{"-", "_"}});
  for (int i = 1; i < type->value_count(); ++i) {
    words.push_back(absl::AsciiStrToLower(
        absl::StripPrefix(type->value(i)->name(), prefix)));
    if (words.back() == wanted) return type->value(i)->number();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", PlainText(word, 64), " is none of ",
                   absl::StrJoin(words, ", ")));
}

absl::Status SetPair(const std::string& pair,
                     v1::ListVerdictsRequest* request) {
  if (pair.empty()) return absl::OkStatus();
  const size_t dots = pair.find("..");
  if (dots == std::string::npos || pair.size() == 2) {
    return absl::InvalidArgumentError(
        "--pair is BASE..NEW, two kernel releases; one of them may be left "
        "out");
  }
  request->set_kernel_base(pair.substr(0, dots));
  request->set_kernel_new(pair.substr(dots + 2));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::ListVerdictsRequest> RequestOf(const VerdictChoice& choice) {
  v1::ListVerdictsRequest request;
  if (absl::Status s = SetPair(choice.pair, &request); !s.ok()) return s;
  request.set_kernel(choice.kernel);
  for (const std::string& word : choice.kinds) {
    const absl::StatusOr<int> kind =
        NumberOf(v1::VerdictKind_descriptor(), "VERDICT_KIND_", "kind", word);
    if (!kind.ok()) return kind.status();
    request.add_kinds(static_cast<v1::VerdictKind>(*kind));
  }
  if (!choice.subsystem.empty()) {
    const absl::StatusOr<int> subsystem =
        NumberOf(v1::Subsystem_descriptor(), "SUBSYSTEM_", "subsystem",
                 choice.subsystem);
    if (!subsystem.ok()) return subsystem.status();
    request.set_subsystem(static_cast<v1::Subsystem>(*subsystem));
  }
  if (!choice.operation.empty()) {
    const absl::StatusOr<int> operation = NumberOf(
        v1::Operation_descriptor(), "OPERATION_", "op", choice.operation);
    if (!operation.ok()) return operation.status();
    request.set_operation(static_cast<v1::Operation>(*operation));
  }
  for (const std::string& word : choice.states) {
    const absl::StatusOr<int> state = NumberOf(v1::VerdictState_descriptor(),
                                               "VERDICT_STATE_", "state", word);
    if (!state.ok()) return state.status();
    request.add_states(static_cast<v1::VerdictState>(*state));
  }
  request.set_incident(choice.incident);
  return request;
}

absl::StatusOr<uint64_t> VerdictIdOf(const std::string& word) {
  uint64_t id = 0;
  if (absl::SimpleAtoi(word, &id) && id > 0) return id;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", PlainText(word, 64),
                   "\" is no verdict; swaplock verdicts lists their numbers"));
}

absl::StatusOr<absl::Duration> SuppressionOf(const std::string& text) {
  const absl::Status bad = absl::InvalidArgumentError(
      "--for is how long, as 14d, 36h or 2w: above 0 and at most 365d");
  if (text.empty()) return bad;
  int64_t count = 0;
  if (!absl::SimpleAtoi(absl::string_view(text).substr(0, text.size() - 1),
                        &count) ||
      count <= 0 || count > int64_t{365} * 24 * 60) {
    return bad;
  }
  absl::Duration unit;
  switch (text.back()) {
    case 'm':
      unit = absl::Minutes(1);
      break;
    case 'h':
      unit = absl::Hours(1);
      break;
    case 'd':
      unit = absl::Hours(24);
      break;
    case 'w':
      unit = absl::Hours(24 * 7);
      break;
    default:
      return bad;
  }
  const absl::Duration out = count * unit;
  if (out > absl::Hours(24 * 365)) return bad;
  return out;
}

}  // namespace swaplock
