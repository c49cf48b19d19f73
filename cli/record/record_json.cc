#include "cli/record/record_json.h"

#include <google/protobuf/util/json_util.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/record.pb.h"

namespace swaplock {
namespace {

template <typename T>
absl::StatusOr<std::optional<Record>> AsRecord(absl::StatusOr<T> value) {
  if (!value.ok()) return value.status();
  return Record(*std::move(value));
}

void Put(const Window& window, v1::Record* to) {
  *to->mutable_window() = ToProto(window);
}
void Put(const RunBegin& begin, v1::Record* to) {
  *to->mutable_run_begin() = ToProto(begin);
}
void Put(const RunEnd& end, v1::Record* to) {
  *to->mutable_run_end() = ToProto(end);
}

}  // namespace

absl::StatusOr<std::string> RecordJson(const Record& record) {
  v1::Record message;
  std::visit([&](const auto& value) { Put(value, &message); }, record);
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("write JSON: ", std::string(status.message())));
  }
  return json;
}

absl::StatusOr<std::optional<Record>> ParseRecordJson(absl::string_view line) {
  const std::string text(line);
  v1::Record record;
  const auto status =
      google::protobuf::util::JsonStringToMessage(text, &record);
  if (!status.ok()) {
    v1::Window window;
    if (google::protobuf::util::JsonStringToMessage(text, &window).ok()) {
      return AsRecord(FromProto(window));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("no record in JSON: ", std::string(status.message())));
  }
  switch (record.kind_case()) {
    case v1::Record::kWindow:
      return AsRecord(FromProto(record.window()));
    case v1::Record::kRunBegin:
      return AsRecord(FromProto(record.run_begin()));
    case v1::Record::kRunEnd:
      return AsRecord(FromProto(record.run_end()));
    case v1::Record::KIND_NOT_SET:
      break;
  }
  return std::nullopt;
}

}  // namespace swaplock
