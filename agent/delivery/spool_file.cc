#include "agent/delivery/spool_file.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/durable_file.h"

namespace swaplock {
namespace {

constexpr absl::string_view kMagic = "swaplsp2";
constexpr absl::string_view kMark = "rec2";
constexpr size_t kSuperblockDistance = 4096;
constexpr size_t kSuperblockBytes = 52;
constexpr size_t kHeaderBytes = 48;
constexpr size_t kCovered = 12;  // offset in a record of what its CRC covers
constexpr uint64_t kAlignment = 16;
constexpr uint64_t kMinRing = 4096;
constexpr uint32_t kMaySent = 1;
// Nothing longer could be sent.
constexpr uint64_t kMaxPayloadBytes = 1 << 20;
// Pieces that may be unreadable in a disk that is believed otherwise.
constexpr int kMaxUnreadable = 16;
constexpr size_t kPieceBytes = 4096;
constexpr size_t kChunkBytes = 256 << 10;

uint64_t Aligned(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool OnlyZeros(absl::string_view bytes) {
  return bytes.find_first_not_of('\0') == absl::string_view::npos;
}

// A disk read from front to back in large pieces. What cannot be read is zeros,
// if it is little.
class Scanner {
 public:
  explicit Scanner(const SpoolDisk& disk) : disk_(disk) {}

  // At least `size` bytes from `offset` on, valid until the next call.
  absl::StatusOr<absl::string_view> From(uint64_t offset, size_t size) {
    if (offset < start_ || offset + size > start_ + chunk_.size()) {
      absl::StatusOr<std::string> chunk =
          Read(offset, std::max(size, kChunkBytes));
      if (!chunk.ok()) return chunk.status();
      chunk_ = *std::move(chunk);
      start_ = offset;
    }
    return absl::string_view(chunk_).substr(offset - start_);
  }

  int unreadable() const { return unreadable_; }

 private:
  absl::StatusOr<std::string> Read(uint64_t offset, size_t size) {
    absl::StatusOr<std::string> bytes = disk_.Read(offset, size);
    if (bytes.ok()) return bytes;
    if (size > kPieceBytes) {
      std::string both;
      const size_t half = size / 2;
      for (const auto& [at, length] :
           {std::make_pair(offset, half),
            std::make_pair(offset + half, size - half)}) {
        bytes = Read(at, length);
        if (!bytes.ok()) return bytes;
        both += *bytes;
      }
      return both;
    }
    if (++unreadable_ > kMaxUnreadable) return bytes;
    return std::string(size, '\0');
  }

  const SpoolDisk& disk_;
  std::string chunk_;
  uint64_t start_ = 0;
  int unreadable_ = 0;
};

}  // namespace

struct SpoolFile::Header {
  uint32_t length = 0;
  uint32_t crc = 0;
  uint32_t flags = 0;
  uint64_t position = 0;
  uint64_t order = 0;
  uint64_t gone = 0;
  uint64_t first = 0;

  // Nothing if no record begins with these bytes.
  static std::optional<Header> Decode(absl::string_view bytes) {
    if (bytes.size() < kHeaderBytes || bytes.substr(0, 4) != kMark) return {};
    Header header;
    header.length = DecodeFixed32(bytes.substr(4));
    header.crc = DecodeFixed32(bytes.substr(8));
    header.flags = DecodeFixed32(bytes.substr(12));
    header.position = DecodeFixed64(bytes.substr(16));
    header.order = DecodeFixed64(bytes.substr(24));
    header.gone = DecodeFixed64(bytes.substr(32));
    header.first = DecodeFixed64(bytes.substr(40));
    if (header.length > kMaxPayloadBytes) return {};
    return header;
  }
};

uint64_t SpoolFile::SizeOnDisk(absl::string_view payload) {
  return Aligned(kHeaderBytes + payload.size());
}

uint64_t SpoolFile::max_payload() const {
  // Room to move records about stays even if two of them are this long.
  return std::min(kMaxPayloadBytes, ring_ / 16 - kHeaderBytes - kAlignment);
}

bool SpoolFile::MayBeSpool(absl::string_view head) {
  const auto is_sound = [&head](size_t at) {
    const absl::string_view magic =
        head.substr(std::min(at, head.size()), kMagic.size());
    return magic == kMagic || OnlyZeros(magic);
  };
  return is_sound(0) || is_sound(kSuperblockDistance);
}

std::string SpoolFile::Encode(const Superblock& s) {
  std::string bytes(kMagic);
  for (const uint64_t value :
       {s.generation, s.ring, s.sent, s.gone, s.server}) {
    bytes += EncodeFixed64(value);
  }
  bytes += EncodeFixed32(Crc32c(bytes));
  return bytes;
}

std::optional<SpoolFile::Superblock> SpoolFile::Decode(
    absl::string_view block) {
  const absl::string_view covered = block.substr(0, kSuperblockBytes - 4);
  if (block.substr(0, kMagic.size()) != kMagic ||
      DecodeFixed32(block.substr(covered.size())) != Crc32c(covered)) {
    return {};
  }
  Superblock s;
  size_t at = kMagic.size();
  for (uint64_t* value :
       {&s.generation, &s.ring, &s.sent, &s.gone, &s.server}) {
    *value = DecodeFixed64(block.substr(at));
    at += 8;
  }
  if (s.ring < kMinRing || s.ring % kAlignment != 0) return {};
  return s;
}

absl::StatusOr<std::unique_ptr<SpoolFile>> SpoolFile::Open(
    std::unique_ptr<SpoolDisk> disk, Recovery* recovery,
    const std::function<void(uint64_t, bool, absl::string_view)>& found) {
  std::unique_ptr<SpoolFile> file(new SpoolFile(std::move(disk)));
  if (absl::Status s = file->ReadSuperblocks(recovery); !s.ok()) return s;
  if (absl::Status s = file->Scan(recovery); !s.ok()) return s;
  Superblock& wanted = file->wanted_;
  const bool is_new = wanted.generation == 0 && file->end_ == 0;
  if (is_new) {
    recovery->trusted = true;
  } else if (!recovery->trusted) {
    wanted.sent = file->next_order_ - 1;
    wanted.server = kAnyServer;
  }
  std::vector<uint64_t> lost;
  for (const auto& [order, place] : file->places_) {
    absl::StatusOr<std::string> payload = file->Read(order);
    if (payload.ok()) {
      found(order, place.may_be_sent || order <= wanted.sent, *payload);
    } else if (absl::IsDataLoss(payload.status())) {
      lost.push_back(order);  // a moment ago it was sound
    } else {
      return payload.status();
    }
  }
  for (const uint64_t order : lost) file->Forget(order);
  recovery->damaged += lost.size();
  // Mends a superblock that was torn, and makes those of a new file. If the
  // disk refuses, the next occasion does.
  if (!recovery->trusted || is_new) {
    for (int i = 0; i < 2; ++i) {
      absl::Status status = file->WriteSuperblock();
      if (status.ok()) status = file->Sync();
      if (!status.ok()) break;
    }
  }
  return file;
}

absl::Status SpoolFile::ReadSuperblocks(Recovery* recovery) {
  const uint64_t size = disk_->size();
  if (size < kHeadBytes + kMinRing) {
    return absl::InvalidArgumentError(absl::StrCat("open a spool of ", size,
                                                   " bytes: it has at least ",
                                                   kHeadBytes + kMinRing));
  }
  ring_ = (size - kHeadBytes) / kAlignment * kAlignment;
  bool blank = true;
  for (int slot = 0; slot < 2; ++slot) {
    absl::StatusOr<std::string> block = disk_->Read(
        static_cast<uint64_t>(slot) * kSuperblockDistance, kSuperblockBytes);
    if (!block.ok()) return block.status();
    blank = blank && OnlyZeros(*block);
    const std::optional<Superblock> superblock = Decode(*block);
    if (!superblock.has_value()) {
      recovery->trusted = false;
    } else if (superblock->generation > durable_.generation) {
      durable_ = *superblock;
      durable_slot_ = slot;
    }
  }
  if (durable_.generation > 0) {
    ring_ = durable_.ring;
  } else if (!blank) {
    ++recovery->damaged;
  }
  durable_.ring = ring_;
  wanted_ = durable_;
  return absl::OkStatus();
}

absl::Status SpoolFile::Scan(Recovery* recovery) {
  Scanner scanner(*disk_);
  std::map<uint64_t, uint64_t> end_of_record;            // by position
  std::map<uint64_t, std::pair<uint64_t, Place>> found;  // by position
  next_order_ = std::max(wanted_.sent, wanted_.gone) + 1;
  uint64_t first = 0;  // position that the last record names
  for (uint64_t at = 0; at + kHeaderBytes <= ring_;) {
    absl::StatusOr<absl::string_view> ahead =
        scanner.From(kHeadBytes + at, kHeaderBytes);
    if (!ahead.ok()) return ahead.status();
    const size_t mark = ahead->find(kMark);
    const uint64_t step = Aligned(mark != absl::string_view::npos
                                      ? mark
                                      : ahead->size() - kMark.size() + 1);
    if (step > 0) {
      at += step;
      continue;
    }
    const std::optional<Header> header = Header::Decode(*ahead);
    if (!header.has_value() || header->position % ring_ != at ||
        at + kHeaderBytes + header->length > ring_) {
      at += kAlignment;
      continue;
    }
    absl::StatusOr<absl::string_view> record =
        scanner.From(kHeadBytes + at, kHeaderBytes + header->length);
    if (!record.ok()) return record.status();
    if (Crc32c(record->substr(kCovered, kHeaderBytes - kCovered +
                                            header->length)) != header->crc) {
      at += kAlignment;
      continue;
    }
    const uint64_t size = Aligned(kHeaderBytes + header->length);
    end_of_record[header->position] = header->position + size;
    if (header->position + size > end_) {
      end_ = header->position + size;
      first = header->first;
    }
    next_order_ = std::max(next_order_, header->order + 1);
    wanted_.gone = std::max(wanted_.gone, header->gone);
    found[header->position] = {
        header->order,
        {header->position, size, (header->flags & kMaySent) != 0, false}};
    at += size;
  }
  recovery->damaged += static_cast<uint64_t>(scanner.unreadable());
  CountDamage(end_of_record, first, recovery);
  for (const auto& [position, record] : found) {
    const auto& [order, place] = record;
    if (order <= wanted_.gone) continue;
    Forget(order);  // a copy: the later one counts
    places_[order] = place;
    by_position_[position] = order;
    live_bytes_ += place.size;
  }
  return absl::OkStatus();
}

// From the first that was needed on, records follow each other without a gap,
// but for the edge of the ring.
void SpoolFile::CountDamage(const std::map<uint64_t, uint64_t>& end_of_record,
                            uint64_t first, Recovery* recovery) const {
  uint64_t expected = first;
  for (auto it = end_of_record.lower_bound(first); it != end_of_record.end();
       ++it) {
    const auto& [position, end] = *it;
    // At the edge a record is missing if this one had fitted before it.
    if (position != expected &&
        (position % ring_ != 0 || position - expected >= end - position)) {
      ++recovery->damaged;
    }
    expected = end;
  }
  // What lies at the end is of an earlier round, or was to be the last record.
  const absl::StatusOr<std::string> head =
      disk_->Read(OffsetOf(end_), kHeaderBytes);
  if (!head.ok()) return;
  const uint64_t position = DecodeFixed64(absl::string_view(*head).substr(16));
  recovery->torn =
      (position == end_ && !OnlyZeros(*head)) ||
      (absl::StartsWith(*head, kMark) && position % ring_ != end_ % ring_);
  if (recovery->torn) ++recovery->damaged;
}

absl::Status SpoolFile::WriteSuperblock() {
  ++wanted_.generation;
  const auto slot = static_cast<uint64_t>(1 - durable_slot_);
  absl::Status status =
      disk_->Write(slot * kSuperblockDistance, Encode(wanted_));
  if (status.ok()) {
    written_ = wanted_;
    written_unsynced_ = true;
  }
  return status;
}

absl::Status SpoolFile::Sync() {
  absl::Status status = disk_->Sync();
  if (status.ok() && written_unsynced_) {
    durable_ = written_;
    durable_slot_ = 1 - durable_slot_;
  }
  // After an error the kernel may have dropped what it could not write: it does
  // not count as written any more.
  written_unsynced_ = false;
  return status;
}

uint64_t SpoolFile::PlaceFor(uint64_t size) const {
  const uint64_t left = ring_ - end_ % ring_;
  return size <= left ? end_ : end_ + left;
}

absl::Status SpoolFile::Put(uint64_t order, bool may_be_sent,
                            absl::string_view payload) {
  if (payload.size() > max_payload()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a record of ", payload.size(),
                     " bytes: this spool takes up to ", max_payload()));
  }
  if (absl::Status s = Settle(); !s.ok()) return s;
  const uint64_t size = SizeOnDisk(payload);
  if (absl::Status s = MakeRoom(size); !s.ok()) return s;
  absl::Status status = Write(order, may_be_sent, payload);
  if (status.ok()) next_order_ = std::max(next_order_, order + 1);
  return status;
}

absl::Status SpoolFile::Write(uint64_t order, bool may_be_sent,
                              absl::string_view payload) {
  const uint64_t size = SizeOnDisk(payload);
  const uint64_t position = PlaceFor(size);
  const std::string covered = absl::StrCat(
      EncodeFixed32(may_be_sent ? kMaySent : 0), EncodeFixed64(position),
      EncodeFixed64(order), EncodeFixed64(wanted_.gone),
      EncodeFixed64(by_position_.empty() ? position
                                         : by_position_.begin()->first),
      payload);
  std::string record =
      absl::StrCat(kMark, EncodeFixed32(static_cast<uint32_t>(payload.size())),
                   EncodeFixed32(Crc32c(covered)), covered);
  record.resize(size);
  unsettled_ = position;
  absl::Status status = disk_->Write(OffsetOf(position), record);
  if (status.ok()) status = Sync();
  if (!status.ok()) return status;
  unsettled_.reset();
  Forget(order);
  places_[order] = {position, size, may_be_sent, false};
  by_position_[position] = order;
  live_bytes_ += size;
  end_ = position + size;
  return absl::OkStatus();
}

absl::Status SpoolFile::Settle() {
  if (!unsettled_.has_value()) return absl::OkStatus();
  absl::Status status =
      disk_->Write(OffsetOf(*unsettled_), std::string(kHeaderBytes, '\0'));
  if (status.ok()) status = Sync();
  if (status.ok()) unsettled_.reset();
  return status;
}

// Above the capacity there is room for one more record, until the ones that it
// stands for are forgotten. An eighth of the ring stays free, so that records
// can always be moved.
absl::Status SpoolFile::MakeRoom(uint64_t size) {
  if (live_bytes_ + size > capacity() + ring_ / 16) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the ring is full: ", live_bytes_, " bytes of ",
                     capacity(), " in use"));
  }
  const auto fits = [this, size] {
    return by_position_.empty() ||
           PlaceFor(size) + size - by_position_.begin()->first <=
               ring_ - ring_ / 8;
  };
  for (size_t moves = by_position_.size(); !fits(); --moves) {
    if (moves == 0) return absl::ResourceExhaustedError("the ring is full");
    if (absl::Status s = MoveFirst(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

// Copies the record that is in the way to the end.
absl::Status SpoolFile::MoveFirst() {
  const auto [position, order] = *by_position_.begin();
  const bool may_be_sent = places_[order].may_be_sent;
  absl::StatusOr<std::string> payload = Read(order);
  if (absl::IsDataLoss(payload.status())) {
    places_[order].damaged = true;
    by_position_.erase(position);
    return absl::OkStatus();
  }
  if (!payload.ok()) return payload.status();
  const uint64_t size = SizeOnDisk(*payload);
  if (PlaceFor(size) + size - position > ring_) {
    return absl::ResourceExhaustedError("the ring has no room to move records");
  }
  return Write(order, may_be_sent, *payload);
}

absl::StatusOr<std::string> SpoolFile::Read(uint64_t order) const {
  const auto found = places_.find(order);
  if (found == places_.end()) {
    return absl::NotFoundError(absl::StrCat("no record of order ", order));
  }
  const Place& place = found->second;
  const auto damaged = [&place] {
    return absl::DataLossError(absl::StrCat("the record at position ",
                                            place.position,
                                            " changed since it was written"));
  };
  if (place.damaged) return damaged();
  absl::StatusOr<std::string> record =
      disk_->Read(OffsetOf(place.position), place.size);
  if (!record.ok()) return record.status();
  const std::optional<Header> header = Header::Decode(*record);
  if (!header.has_value() || header->position != place.position ||
      kHeaderBytes + header->length > record->size()) {
    return damaged();
  }
  const absl::string_view covered = absl::string_view(*record).substr(
      kCovered, kHeaderBytes - kCovered + header->length);
  if (Crc32c(covered) != header->crc) return damaged();
  return record->substr(kHeaderBytes, header->length);
}

void SpoolFile::Forget(uint64_t order) {
  const auto found = places_.find(order);
  if (found == places_.end()) return;
  live_bytes_ -= found->second.size;
  by_position_.erase(found->second.position);
  places_.erase(found);
}

absl::Status SpoolFile::SetSent(uint64_t order, uint64_t server) {
  wanted_.sent = std::max(wanted_.sent, order);
  wanted_.server = server;
  absl::Status status = WriteSuperblock();
  if (status.ok()) status = Sync();
  return status;
}

absl::Status SpoolFile::SetGone(uint64_t order) {
  if (order <= wanted_.gone) return absl::OkStatus();
  wanted_.gone = order;
  return WriteSuperblock();
}

}  // namespace swaplock
