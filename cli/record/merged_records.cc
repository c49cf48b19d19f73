#include "cli/record/merged_records.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cli/record/record_json.h"
#include "common/record_file.h"

namespace swaplock {
namespace {

// The file that comes to be, under another name until it is whole.
class NewFile {
 public:
  static absl::StatusOr<std::unique_ptr<NewFile>> Make(
      const std::string& path) {
    struct stat s = {};
    if (lstat(path.c_str(), &s) == 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "write ", path, ": it is there already; give a new name"));
    }
    const std::string part = absl::StrCat(path, ".part-", getpid());
    absl::StatusOr<std::unique_ptr<RecordWriter>> writer =
        RecordWriter::Open(part);
    if (!writer.ok()) return writer.status();
    return std::unique_ptr<NewFile>(
        new NewFile(path, part, *std::move(writer)));
  }
  ~NewFile() {
    if (!part_.empty()) unlink(part_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  absl::Status Add(const Record& record) {
    if (!IsNew(record)) {
      ++result_.duplicates;
      return absl::OkStatus();
    }
    ++result_.records;
    return std::visit([&](const auto& r) { return writer_->Append(r); },
                      record);
  }
  void Remark(std::string sentence) {
    result_.remarks.push_back(std::move(sentence));
  }

  absl::StatusOr<MergeResult> PutInPlace() {
    writer_.reset();
    // Not over one that somebody else made meanwhile.
    if (link(part_.c_str(), path_.c_str()) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("write ", path_));
    }
    return result_;
  }

 private:
  NewFile(std::string path, std::string part,
          std::unique_ptr<RecordWriter> writer)
      : path_(std::move(path)),
        part_(std::move(part)),
        writer_(std::move(writer)) {}

  bool IsNew(const Record& record) {
    if (const auto* window = std::get_if<Window>(&record)) {
      return windows_.insert(window->key).second;
    }
    if (const auto* begin = std::get_if<RunBegin>(&record)) {
      return begins_.insert(begin->id).second;
    }
    return ends_.insert(std::get<RunEnd>(record).run_id).second;
  }

  const std::string path_;
  const std::string part_;
  std::unique_ptr<RecordWriter> writer_;
  MergeResult result_;
  std::set<WindowKey> windows_;
  std::set<std::string> begins_;
  std::set<std::string> ends_;
};

absl::StatusOr<std::unique_ptr<RecordReader>> OpenInput(
    const std::string& path) {
  absl::StatusOr<std::unique_ptr<RecordReader>> reader =
      RecordReader::Open(path);
  // A reader alone would wait for more.
  if (reader.ok() && (*reader)->offset() == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("open ", path, ": it is empty, not a record file"));
  }
  return reader;
}

// Whether the last run that the file begins has no end in it.
absl::StatusOr<bool> EndsInARun(const std::string& path) {
  absl::StatusOr<std::unique_ptr<RecordReader>> reader = OpenInput(path);
  if (!reader.ok()) return reader.status();
  std::string open;
  absl::StatusOr<Record> record = (*reader)->NextRecord();
  for (; record.ok(); record = (*reader)->NextRecord()) {
    if (const auto* begin = std::get_if<RunBegin>(&*record)) open = begin->id;
    const auto* end = std::get_if<RunEnd>(&*record);
    if (end != nullptr && end->run_id == open) open.clear();
  }
  if (!absl::IsOutOfRange(record.status())) return record.status();
  return !open.empty();
}

absl::Status AddFile(const std::string& path, NewFile* file) {
  absl::StatusOr<std::unique_ptr<RecordReader>> reader = OpenInput(path);
  if (!reader.ok()) return reader.status();
  while (true) {
    const absl::StatusOr<Record> record = (*reader)->NextRecord();
    if (absl::IsOutOfRange(record.status())) break;
    if (!record.ok()) return record.status();
    if (absl::Status s = file->Add(*record); !s.ok()) return s;
  }
  if ((*reader)->torn()) {
    file->Remark(absl::StrCat(path, " was cut short at byte ",
                              (*reader)->offset(),
                              "; what stands before is taken"));
  }
  return absl::OkStatus();
}

absl::Status AddLines(std::istream& in, const std::string& name,
                      NewFile* file) {
  std::string line;
  for (uint64_t number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const absl::StatusOr<std::optional<Record>> record = ParseRecordJson(line);
    if (!record.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " line ", number, ": ", record.status().message()));
    }
    if (!record->has_value()) continue;
    if (absl::Status s = file->Add(**record); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MergeResult> MergeRecordFiles(
    absl::Span<const std::string> inputs, const std::string& output) {
  std::vector<std::pair<bool, std::string>> ordered;
  for (const std::string& input : inputs) {
    const absl::StatusOr<bool> last = EndsInARun(input);
    if (!last.ok()) return last.status();
    ordered.emplace_back(*last, input);
  }
  std::stable_sort(
      ordered.begin(), ordered.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  absl::StatusOr<std::unique_ptr<NewFile>> file = NewFile::Make(output);
  if (!file.ok()) return file.status();
  for (const auto& [last, input] : ordered) {
    if (absl::Status s = AddFile(input, file->get()); !s.ok()) return s;
  }
  return (*file)->PutInPlace();
}

absl::StatusOr<MergeResult> ImportJson(absl::Span<const std::string> inputs,
                                       const std::string& output) {
  absl::StatusOr<std::unique_ptr<NewFile>> file = NewFile::Make(output);
  if (!file.ok()) return file.status();
  for (const std::string& input : inputs) {
    absl::Status status;
    if (input == "-") {
      status = AddLines(std::cin, "stdin", file->get());
    } else {
      std::ifstream in(input);
      status = in ? AddLines(in, input, file->get())
                  : absl::NotFoundError(
                        absl::StrCat("open ", input, ": it cannot be read"));
    }
    if (!status.ok()) return status;
  }
  return (*file)->PutInPlace();
}

}  // namespace swaplock
