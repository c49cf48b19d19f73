#include <cstdio>
#include <string>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "cli/record/merged_records.h"
#include "cli/record/record_json.h"
#include "cli/subcommands.h"
#include "common/command_line.h"
#include "common/record_file.h"
#include "common/text_table.h"

ABSL_DECLARE_FLAG(std::string, o);  // defined in record.cc

ABSL_FLAG(std::string, from, "",
          "form of the files that are read: json; empty: record files");

namespace swaplock {
namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "swaplock: %s\n", Printable(status.message()).c_str());
  return kExitConfig;
}

int Told(const absl::StatusOr<MergeResult>& result) {
  if (!result.ok()) return Fail(result.status());
  for (const std::string& remark : result->remarks) {
    std::fprintf(stderr, "swaplock: %s\n", Printable(remark).c_str());
  }
  std::fprintf(
      stderr, "swaplock: %s\n",
      absl::StrCat(result->records, " records, ", result->duplicates,
                   " found more than once, in ", absl::GetFlag(FLAGS_o))
          .c_str());
  return 0;
}

// Every record of the file, a line each. A file that was cut short is said so.
absl::Status PrintJson(const std::string& path) {
  absl::StatusOr<std::unique_ptr<RecordReader>> reader =
      RecordReader::Open(path);
  if (!reader.ok()) return reader.status();
  if ((*reader)->offset() == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("open ", path, ": it is empty, not a record file"));
  }
  while (true) {
    const absl::StatusOr<Record> record = (*reader)->NextRecord();
    if (absl::IsOutOfRange(record.status())) break;
    if (!record.ok()) return record.status();
    const absl::StatusOr<std::string> json = RecordJson(*record);
    if (!json.ok()) return json.status();
    if (std::puts(json->c_str()) < 0) {
      return absl::UnavailableError("stdout takes no more");
    }
  }
  if ((*reader)->torn()) {
    std::fprintf(stderr,
                 "swaplock: %s was cut short; what stands before is printed\n",
                 Printable(path).c_str());
  }
  return absl::OkStatus();
}

}  // namespace

int Merge(const Words& words) {
  if (words.dashes) return UsageError("merge", "it takes no \"--\"");
  if (words.words.empty()) return UsageError("merge", "of what? give FILE...");
  if (absl::GetFlag(FLAGS_o).empty()) {
    return UsageError("merge", "where to? give -o FILE");
  }
  return Told(MergeRecordFiles(words.words, absl::GetFlag(FLAGS_o)));
}

int Convert(const Words& words) {
  const std::string from = absl::GetFlag(FLAGS_from);
  const std::string output = absl::GetFlag(FLAGS_o);
  if (words.dashes) return UsageError("convert", "it takes no \"--\"");
  if (words.words.empty()) {
    return UsageError("convert", "of what? give FILE...");
  }
  if (!from.empty() && from != "json") {
    return UsageError("convert", "--from is json");
  }
  if (from.empty() != output.empty()) {
    return UsageError("convert", from.empty()
                                     ? "-o goes with --from=json; JSON is "
                                       "written to stdout"
                                     : "where to? give -o FILE");
  }
  if (!from.empty()) return Told(ImportJson(words.words, output));
  for (const std::string& path : words.words) {
    if (const absl::Status s = PrintJson(path); !s.ok()) return Fail(s);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace swaplock
