#include "common/record_file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace swaplock {
namespace {

constexpr absl::string_view kMagic = "swaplk2\n";
constexpr absl::string_view kMagicOfAnyFormat = "swaplk";
constexpr size_t kHeaderBytes = 8;  // length and CRC

// Equal records give equal bytes.
std::string Serialize(const v1::Record& record) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);  // or maps come in any order
  record.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

template <typename T>
absl::StatusOr<std::optional<Record>> AsRecord(absl::StatusOr<T> value) {
  if (!value.ok()) return value.status();
  return Record(*std::move(value));
}

// Nothing for a kind that a newer version has added.
absl::StatusOr<std::optional<Record>> Parse(absl::string_view payload) {
  v1::Record message;
  if (!message.ParseFromArray(payload.data(),
                              static_cast<int>(payload.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat(payload.size(), " bytes are no record message"));
  }
  switch (message.kind_case()) {
    case v1::Record::kWindow:
      return AsRecord(FromProto(message.window()));
    case v1::Record::kRunBegin:
      return AsRecord(FromProto(message.run_begin()));
    case v1::Record::kRunEnd:
      return AsRecord(FromProto(message.run_end()));
    case v1::Record::KIND_NOT_SET:
      break;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Open(
    const std::string& path) {
  absl::StatusOr<DurableFile> file = DurableFile::OpenToWrite(path);
  if (!file.ok()) return file.status();
  if (absl::Status s = file->LockForThisProcess(); !s.ok()) return s;

  absl::StatusOr<std::unique_ptr<RecordReader>> reader =
      RecordReader::Open(path);
  if (!reader.ok()) return reader.status();
  std::unique_ptr<RecordWriter> writer(new RecordWriter(*std::move(file)));
  absl::StatusOr<Window> window = (*reader)->Next();
  for (; window.ok(); window = (*reader)->Next()) {
    writer->last_found_ = *std::move(window);
  }
  if (!absl::IsOutOfRange(window.status())) return window.status();

  writer->end_ = (*reader)->offset();
  absl::Status status = writer->file_.Truncate(writer->end_);
  if (status.ok() && writer->end_ == 0) {
    status = writer->file_.WriteAt(0, kMagic);
    writer->end_ = kMagic.size();
  }
  if (status.ok()) status = writer->file_.Sync();
  if (!status.ok()) return status;
  return writer;
}

absl::Status RecordWriter::Append(const Window& window) {
  v1::Record record;
  *record.mutable_window() = ToProto(window);
  return AppendPayload(Serialize(record));
}

absl::Status RecordWriter::Append(const RunBegin& begin) {
  v1::Record record;
  *record.mutable_run_begin() = ToProto(begin);
  return AppendPayload(Serialize(record));
}

absl::Status RecordWriter::Append(const RunEnd& end) {
  v1::Record record;
  *record.mutable_run_end() = ToProto(end);
  return AppendPayload(Serialize(record));
}

absl::Status RecordWriter::AppendPayload(absl::string_view payload) {
  if (payload.empty() || payload.size() > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("write ", payload.size(), " bytes to ", file_.path(),
                     ": a record has 1 to ", kMaxRecordBytes));
  }
  const std::string record =
      absl::StrCat(EncodeFixed32(static_cast<uint32_t>(payload.size())),
                   EncodeFixed32(Crc32c(payload)), payload);
  // Cuts off what a failed append may have left.
  absl::Status status = file_.Truncate(end_);
  if (status.ok()) status = file_.WriteAt(end_, record);
  if (status.ok()) status = file_.Sync();
  if (status.ok()) {
    end_ += record.size();
  } else {
    file_.Truncate(end_).IgnoreError();
  }
  return status;
}

absl::StatusOr<std::unique_ptr<RecordReader>> RecordReader::Open(
    const std::string& path) {
  absl::StatusOr<DurableFile> file = DurableFile::OpenToRead(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::string> magic = file->ReadAt(0, kMagic.size());
  if (!magic.ok()) return magic.status();
  // A shorter beginning of the magic is a file that died while it was made.
  if (*magic != kMagic.substr(0, magic->size())) {
    if (magic->size() == kMagic.size() &&
        absl::StartsWith(*magic, kMagicOfAnyFormat)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "open ", path, ": its format is ",
          absl::CHexEscape(magic->substr(kMagicOfAnyFormat.size(), 1)),
          ", this program reads and writes format ",
          kMagic.substr(kMagicOfAnyFormat.size(), 1),
          "; use the swaplock that made it, or a newer one"));
    }
    return absl::FailedPreconditionError(
        absl::StrCat("open ", path, ": it is no record file"));
  }
  std::unique_ptr<RecordReader> reader(new RecordReader(*std::move(file)));
  if (magic->size() == kMagic.size()) reader->offset_ = kMagic.size();
  return reader;
}

absl::StatusOr<Window> RecordReader::Next() {
  absl::StatusOr<Record> record = NextRecord();
  while (record.ok()) {
    if (Window* window = std::get_if<Window>(&*record)) {
      return std::move(*window);
    }
    record = NextRecord();
  }
  return record.status();
}

absl::StatusOr<Record> RecordReader::NextRecord() {
  absl::StatusOr<std::optional<Record>> record = ReadRecord();
  while (record.ok() && !record->has_value()) record = ReadRecord();
  if (!record.ok()) return record.status();
  return **std::move(record);
}

absl::StatusOr<std::optional<Record>> RecordReader::ReadRecord() {
  torn_ = false;
  const auto end = [this](bool torn) {
    torn_ = torn;
    return absl::OutOfRangeError(
        absl::StrCat(file_.path(), torn ? " has a torn tail" : " ends",
                     " at offset ", offset_));
  };
  const auto damaged = [this](absl::string_view what) {
    return absl::DataLossError(absl::StrCat(
        file_.path(), ": the record at offset ", offset_, " ", what));
  };
  absl::StatusOr<std::string> header = file_.ReadAt(offset_, kHeaderBytes);
  if (!header.ok()) return header.status();
  if (header->empty()) return end(false);
  if (offset_ == 0 || header->size() < kHeaderBytes) return end(true);

  const uint32_t length = DecodeFixed32(*header);
  if (length == 0 || length > kMaxRecordBytes) {
    absl::StatusOr<bool> zeros = file_.OnlyZerosFrom(offset_);
    if (!zeros.ok()) return zeros.status();
    if (*zeros) return end(true);
    return damaged(absl::StrCat("has the impossible length ", length));
  }
  absl::StatusOr<std::string> payload =
      file_.ReadAt(offset_ + kHeaderBytes, length);
  if (!payload.ok()) return payload.status();
  if (payload->size() < length) return end(true);
  if (Crc32c(*payload) != DecodeFixed32(header->substr(4))) {
    return damaged("fails its checksum");
  }
  absl::StatusOr<std::optional<Record>> record = Parse(*payload);
  if (!record.ok()) {
    return damaged(absl::StrCat("is invalid: ", record.status().message()));
  }
  offset_ += kHeaderBytes + length;
  return record;
}

}  // namespace swaplock
