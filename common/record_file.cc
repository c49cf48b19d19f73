#include "common/record_file.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace swaplock {
namespace {

constexpr absl::string_view kMagic = "swaplk1\n";
constexpr size_t kHeaderBytes = 8;  // length and CRC

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
  const std::string payload = Serialize(window);
  if (payload.empty() || payload.size() > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("record a window of ", payload.size(), " bytes in ",
                     file_.path(), ": a record has 1 to ", kMaxRecordBytes));
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
    return absl::FailedPreconditionError(
        absl::StrCat("open ", path, ": it is no record file"));
  }
  std::unique_ptr<RecordReader> reader(new RecordReader(*std::move(file)));
  if (magic->size() == kMagic.size()) reader->offset_ = kMagic.size();
  return reader;
}

absl::StatusOr<Window> RecordReader::Next() {
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
  absl::StatusOr<Window> window = ParseWindow(*payload);
  if (!window.ok()) {
    return damaged(absl::StrCat("is no window: ", window.status().message()));
  }
  offset_ += kHeaderBytes + length;
  return window;
}

}  // namespace swaplock
