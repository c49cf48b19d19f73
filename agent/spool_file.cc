#include "agent/spool_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <optional>

#include "absl/strings/str_cat.h"

namespace swaplock {
namespace {

constexpr absl::string_view kMagic = "swaplsp1";
constexpr absl::string_view kMark = "rec";
constexpr size_t kHeaderBytes = 20;
constexpr uint32_t kMaxPayloadBytes = 4 << 20;

std::string EncodeFixed64(uint64_t value) {
  return absl::StrCat(EncodeFixed32(static_cast<uint32_t>(value)),
                      EncodeFixed32(static_cast<uint32_t>(value >> 32)));
}

uint64_t DecodeFixed64(absl::string_view bytes) {
  return DecodeFixed32(bytes) |
         static_cast<uint64_t>(DecodeFixed32(bytes.substr(4))) << 32;
}

std::string Encode(uint64_t order, bool in_doubt, absl::string_view payload) {
  const std::string covered = absl::StrCat(EncodeFixed64(order), payload);
  return absl::StrCat(in_doubt ? "D" : "P", kMark,
                      EncodeFixed32(static_cast<uint32_t>(payload.size())),
                      EncodeFixed32(Crc32c(covered)), covered);
}

struct Header {
  char state;
  uint32_t length;
  uint32_t crc;
  uint64_t order;
};

// Nothing if no record can begin with these bytes.
std::optional<Header> DecodeHeader(absl::string_view bytes) {
  if (bytes.size() < kHeaderBytes || bytes.substr(1, 3) != kMark) return {};
  const Header header = {bytes[0], DecodeFixed32(bytes.substr(4)),
                         DecodeFixed32(bytes.substr(8)),
                         DecodeFixed64(bytes.substr(12))};
  if (header.length > kMaxPayloadBytes) return {};
  return header;
}

// Finds pending records up to the end of the file or to bytes that are no
// record, and returns the offset there.
absl::StatusOr<uint64_t> Scan(
    const DurableFile& file, SpoolFile::Damage* damage,
    const std::function<void(const SpoolFile::Record&, absl::string_view)>&
        found) {
  uint64_t offset = kMagic.size();
  while (true) {
    absl::StatusOr<std::string> head = file.ReadAt(offset, kHeaderBytes);
    if (!head.ok()) return head.status();
    const std::optional<Header> header = DecodeHeader(*head);
    if (!header.has_value()) return offset;
    absl::StatusOr<std::string> payload =
        file.ReadAt(offset + kHeaderBytes, header->length);
    if (!payload.ok()) return payload.status();
    if (payload->size() < header->length) return offset;
    const bool sound =
        Crc32c(absl::StrCat(head->substr(12), *payload)) == header->crc;
    if (header->state == 'G') {
      // Nobody needs it any more, sound or not.
    } else if (sound) {
      found({offset, header->order, header->state == 'D'}, *payload);
    } else {
      ++damage->records;
    }
    offset += kHeaderBytes + header->length;
  }
}

}  // namespace

uint64_t SpoolFile::SizeOnDisk(absl::string_view payload) {
  return kHeaderBytes + payload.size();
}

absl::StatusOr<std::unique_ptr<SpoolFile>> SpoolFile::Open(
    const std::string& folder, Damage* damage,
    const std::function<void(const Record&, absl::string_view)>& found) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat("make folder ", folder));
  }
  // A file of its own, because Compact() replaces the other one.
  absl::StatusOr<DurableFile> lock =
      DurableFile::OpenToWrite(absl::StrCat(folder, "/lock"));
  if (!lock.ok()) return lock.status();
  if (absl::Status s = lock->LockForThisProcess(); !s.ok()) return s;

  const std::string path = absl::StrCat(folder, "/spool");
  absl::StatusOr<DurableFile> file = DurableFile::OpenToWrite(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::string> magic = file->ReadAt(0, kMagic.size());
  if (!magic.ok()) return magic.status();
  if (*magic != kMagic.substr(0, magic->size())) {
    damage->foreign = true;
    if (absl::Status s = file->RenameTo(absl::StrCat(path, ".damaged"));
        !s.ok()) {
      return s;
    }
    file = DurableFile::OpenToWrite(path);
    if (!file.ok()) return file.status();
  }
  std::unique_ptr<SpoolFile> spool(
      new SpoolFile(*std::move(lock), *std::move(file)));

  if (damage->foreign || magic->size() < kMagic.size()) {
    absl::Status status = spool->file_.WriteAt(0, kMagic);
    if (status.ok()) status = spool->Clear();
    if (!status.ok()) return status;
    return spool;
  }
  absl::StatusOr<uint64_t> end = Scan(spool->file_, damage, found);
  if (!end.ok()) return end.status();
  absl::StatusOr<uint64_t> size = spool->file_.Size();
  if (!size.ok()) return size.status();
  spool->end_ = *end;
  damage->tail_bytes = *size - *end;
  if (absl::Status s = spool->file_.Truncate(*end); !s.ok()) return s;
  return spool;
}

absl::StatusOr<SpoolFile::Record> SpoolFile::Append(uint64_t order,
                                                    bool in_doubt,
                                                    absl::string_view payload) {
  if (payload.size() > kMaxPayloadBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("append ", payload.size(), " bytes to ", file_.path(),
                     ": a record has up to ", kMaxPayloadBytes));
  }
  const std::string bytes = Encode(order, in_doubt, payload);
  absl::Status status = file_.WriteAt(end_, bytes);
  if (status.ok()) status = file_.Sync();
  if (!status.ok()) {
    file_.Truncate(end_).IgnoreError();
    return status;
  }
  const Record record = {end_, order, in_doubt};
  end_ += bytes.size();
  return record;
}

absl::StatusOr<std::string> SpoolFile::Read(const Record& record) const {
  absl::StatusOr<std::string> head = file_.ReadAt(record.offset, kHeaderBytes);
  if (!head.ok()) return head.status();
  const std::optional<Header> header = DecodeHeader(*head);
  if (header.has_value()) {
    absl::StatusOr<std::string> payload =
        file_.ReadAt(record.offset + kHeaderBytes, header->length);
    if (!payload.ok()) return payload.status();
    if (Crc32c(absl::StrCat(head->substr(12), *payload)) == header->crc) {
      return payload;
    }
  }
  return absl::DataLossError(
      absl::StrCat("read ", file_.path(), ": the record at offset ",
                   record.offset, " changed since it was written"));
}

absl::Status SpoolFile::MarkGone(const Record& record) {
  absl::Status status = file_.WriteAt(record.offset, "G");
  if (status.ok()) status = file_.Sync();
  return status;
}

absl::Status SpoolFile::Clear() {
  absl::Status status = file_.Truncate(kMagic.size());
  if (status.ok()) status = file_.Sync();
  if (status.ok()) end_ = kMagic.size();
  return status;
}

absl::Status SpoolFile::Compact(const std::vector<Record*>& keep) {
  const std::string path = file_.path();
  absl::StatusOr<DurableFile> file =
      DurableFile::OpenToWrite(absl::StrCat(path, ".new"));
  if (!file.ok()) return file.status();
  absl::Status status = file->Truncate(0);
  if (status.ok()) status = file->WriteAt(0, kMagic);
  std::vector<uint64_t> offsets;
  uint64_t end = kMagic.size();
  for (const Record* record : keep) {
    if (!status.ok()) break;
    absl::StatusOr<std::string> payload = Read(*record);
    if (!payload.ok()) return payload.status();
    const std::string bytes = Encode(record->order, record->in_doubt, *payload);
    status = file->WriteAt(end, bytes);
    offsets.push_back(end);
    end += bytes.size();
  }
  if (status.ok()) status = file->Sync();
  if (status.ok()) status = file->RenameTo(path);
  // Once renamed it is the spool, even if the folder could not be synced.
  if (file->path() != path) {
    file->Truncate(0).IgnoreError();  // gives its space back
    return status;
  }
  file_ = *std::move(file);
  end_ = end;
  for (size_t i = 0; i < keep.size(); ++i) keep[i]->offset = offsets[i];
  return absl::OkStatus();
}

}  // namespace swaplock
