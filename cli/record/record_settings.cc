#include "cli/record/record_settings.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "common/plain_text.h"
#include "common/record_file.h"

namespace swaplock {
namespace {

constexpr size_t kMaxNameBytes = 128;
constexpr size_t kMaxLabels = 32;  // as many as an agent's windows may have
constexpr size_t kMaxLabelNameBytes = 64;
constexpr size_t kMaxLabelBytes = 256;
// A command line may have megabytes; a record should not.
constexpr size_t kMaxCommandBytes = 32 << 10;

bool Fits(absl::string_view text, size_t max_bytes) {
  return text.size() <= max_bytes && IsPlainText(text);
}

absl::string_view FileName(absl::string_view path) {
  const size_t slash = path.find_last_not_of('/');
  path = path.substr(0, slash == path.npos ? 0 : slash + 1);
  return path.substr(path.rfind('/') + 1);
}

std::vector<std::string> Shortened(const std::vector<std::string>& command) {
  std::vector<std::string> out;
  size_t left = kMaxCommandBytes;
  for (const std::string& word : command) {
    if (word.size() > left) {
      out.emplace_back("...");
      break;
    }
    left -= word.size();
    out.push_back(PlainText(word));
  }
  return out;
}

}  // namespace

std::string NewRunId() {
  std::random_device device;  // the kernel's
  const uint64_t high = device();
  return absl::StrFormat("%016x", high << 32 | device());
}

absl::StatusOr<RunBegin> MakeRunBegin(const RunNames& names,
                                      const std::vector<std::string>& command) {
  RunBegin out;
  out.id = NewRunId();
  out.name = names.run.empty() ? PlainText(FileName(command[0]), kMaxNameBytes)
                               : names.run;
  out.variant = names.variant;
  if (out.name.empty() || !Fits(out.name, kMaxNameBytes) ||
      !Fits(out.variant, kMaxNameBytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--run and --variant are UTF-8 of at most ", kMaxNameBytes,
                     " bytes without control characters"));
  }
  for (const std::string& label : names.labels) {
    const size_t equals = label.find('=');
    if (equals == label.npos || equals == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--label \"", label, "\" is not name=value"));
    }
    const std::string name = label.substr(0, equals);
    const std::string value = label.substr(equals + 1);
    if (!Fits(name, kMaxLabelNameBytes) || !Fits(value, kMaxLabelBytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--label: names are UTF-8 of at most ",
                       kMaxLabelNameBytes, " bytes, values of at most ",
                       kMaxLabelBytes, ", without control characters"));
    }
    out.labels[name] = value;
  }
  if (out.labels.size() > kMaxLabels) {
    return absl::InvalidArgumentError(
        absl::StrCat("--label: at most ", kMaxLabels));
  }
  out.command = Shortened(command);
  return out;
}

absl::StatusOr<uint32_t> RunsOf(const std::string& path, const RunBegin& run) {
  absl::StatusOr<std::unique_ptr<RecordReader>> reader =
      RecordReader::Open(path);
  if (absl::IsNotFound(reader.status())) return 0;
  if (!reader.ok()) return reader.status();
  uint32_t count = 0;
  absl::StatusOr<Record> record = (*reader)->NextRecord();
  for (; record.ok(); record = (*reader)->NextRecord()) {
    const RunBegin* begin = std::get_if<RunBegin>(&*record);
    if (begin == nullptr || begin->name != run.name ||
        begin->variant != run.variant) {
      continue;
    }
    // Of merged files, some may have been left out.
    count = std::max(count + 1, begin->repetition);
  }
  if (!absl::IsOutOfRange(record.status())) return record.status();
  return count;
}

}  // namespace swaplock
