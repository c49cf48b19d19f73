#include "server/steering/settings_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/plain_text.h"
#include "common/spiffe_id.h"
#include "proto/settings_file.pb.h"

namespace swaplock {
namespace {

// Keeps the first error, with its place counted from 1.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ = absl::StrCat("line ", line + 1, ", column ", column + 1, ": ",
                         PlainText(message, 200));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

template <typename Said>
v1::Settings SettingsOf(const Said& said) {
  v1::Settings out;
  out.set_interval_ms(said.interval_ms());
  out.set_top_k(said.top_k());
  out.set_top_hold_ns(said.top_hold_ns());
  return out;
}

}  // namespace

absl::StatusOr<FileSettings> ParseSettings(absl::string_view text,
                                           absl::Time now) {
  v1::SettingsFile file;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(text), &file)) {
    return absl::InvalidArgumentError(error.text());
  }
  FileSettings out;
  out.for_all = SettingsOf(file);
  if (absl::Status s = CheckSettings(out.for_all); !s.ok()) return s;
  if (!file.has_deep_dive()) return out;
  const v1::SettingsFile::DeepDive& dive = file.deep_dive();
  if (!IsSpiffeName(dive.host_id())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "deep_dive: \"", PlainText(dive.host_id(), 128), "\" is no host_id"));
  }
  absl::Time until;
  std::string ignored;
  if (!absl::ParseTime(absl::RFC3339_full, dive.until(), &until, &ignored)) {
    return absl::InvalidArgumentError(
        "deep_dive: until is a time such as \"2026-12-01T10:00:00Z\"");
  }
  if (until > now + absl::Hours(1)) {
    return absl::InvalidArgumentError(
        "deep_dive: until is at most an hour from now");
  }
  out.deep_dive = SettingsOf(dive);
  if (absl::Status s = CheckSettings(out.deep_dive); !s.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("deep_dive: ", s.message()));
  }
  const int64_t left_ms = absl::ToInt64Milliseconds(until - now);
  if (left_ms <= 0) return out;
  out.host_id = dive.host_id();
  out.deep_dive.set_lease_ms(static_cast<uint32_t>(left_ms));
  return out;
}

absl::Status SettingsFile::Read(absl::Time now) {
  seen_ = FileStamp::Of(path_);
  const absl::StatusOr<std::string> text = ReadSmallFile(path_);
  if (!text.ok()) return text.status();
  const absl::StatusOr<FileSettings> settings = ParseSettings(*text, now);
  if (!settings.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("settings ", path_, ": ", settings.status().message()));
  }
  steering_->SetForAll(settings->for_all);
  // One that is no longer in the file is over.
  if (!in_deep_dive_.empty() && in_deep_dive_ != settings->host_id) {
    steering_->DeepDive(in_deep_dive_, {}).IgnoreError();
  }
  in_deep_dive_ = settings->host_id;
  if (in_deep_dive_.empty()) return absl::OkStatus();
  return steering_->DeepDive(in_deep_dive_, settings->deep_dive).status();
}

absl::Status SettingsFile::ReadIfChanged(absl::Time now) {
  if (FileStamp::Of(path_) == seen_) return absl::OkStatus();
  return Read(now);
}

}  // namespace swaplock
