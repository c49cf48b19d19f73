// The spool's records on disk: a ring of windows in a file of fixed size.
//
// Layout, all integers little-endian:
//   two superblocks, 4096 bytes apart, written in turn: the one with the higher
//   generation counts, the other one is what a torn write leaves
//     magic       8 bytes  "swaplsp2"
//     generation  64 bits
//     ring        64 bits  bytes of the ring, a multiple of 16
//     sent        64 bits  records up to this order may have been sent
//     gone        64 bits  records up to this order are needed no more
//     server      64 bits  to which server, as the caller numbers them
//     crc         32 bits  CRC-32C of the above
//   the ring, from byte 8192 on: records, each at a multiple of 16
//     mark        4 bytes  "rec2"
//     length      32 bits  of the payload
//     crc         32 bits  CRC-32C of all that follows
//     flags       32 bits  bit 0: may have been sent
//     position    64 bits  bytes ever written before it; modulo the ring, where
//                          it lies
//     order       64 bits  place in the queue
//     gone        64 bits  as in the superblock, when it was written
//     first       64 bits  position of the first record needed then
//     payload     a serialized swaplock.v1.Window
//
// Only appended to: what a place holds is overwritten when nobody needs it any
// more, and a record that is in the way is first copied to the end. Of two
// records of one order the one with the higher position counts.
//
// Opening looks at every place of the ring, so no damage hides the records
// beside it; and it needs no free space, for it writes only to the file's own
// bytes.
//
// Not thread-safe: Spool's mutex guards it.
#ifndef SWAPLOCK_AGENT_DELIVERY_SPOOL_FILE_H_
#define SWAPLOCK_AGENT_DELIVERY_SPOOL_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/delivery/spool_disk.h"

namespace swaplock {

class SpoolFile {
 public:
  static constexpr size_t kHeadBytes = 8192;  // of both superblocks
  // Instead of a server: one that is not known, or several.
  static constexpr uint64_t kAnyServer = ~uint64_t{0};

  // Whether a file with this head may be a spool: new, or one whose superblocks
  // are not both something else.
  static bool MayBeSpool(absl::string_view head);

  // What Open() found out.
  struct Recovery {
    uint64_t damaged = 0;  // places where a record was and is no more
    bool torn = false;     // of them, the last record
    // Both superblocks were sound. Otherwise every record may have been sent.
    bool trusted = true;
  };

  // `found` is called with each record that is needed, in order. Fails when the
  // disk cannot be read.
  static absl::StatusOr<std::unique_ptr<SpoolFile>> Open(
      std::unique_ptr<SpoolDisk> disk, Recovery* recovery,
      const std::function<void(uint64_t order, bool may_be_sent,
                               absl::string_view payload)>& found);

  // Writes a record, durably, and forgets one of the same order.
  // ResourceExhausted, with nothing written, when the ring has no room for it.
  // After another error it may be there all the same: see Settle().
  absl::Status Put(uint64_t order, bool may_be_sent, absl::string_view payload);

  // Makes sure that the record of a Put() that failed is not there. Does
  // nothing after a Put() that succeeded.
  absl::Status Settle();

  // DataLoss when it is damaged.
  absl::StatusOr<std::string> Read(uint64_t order) const;

  // Its place may be overwritten. Opening finds it again until that happens,
  // unless SetGone() covers it.
  void Forget(uint64_t order);

  // Durable before it returns: all records up to `order` may have been sent, to
  // `server` if they are still needed.
  absl::Status SetSent(uint64_t order, uint64_t server);

  // Records up to `order` are needed no more. Durable at the next occasion.
  absl::Status SetGone(uint64_t order);

  uint64_t sent() const { return durable_.sent; }
  uint64_t server() const { return durable_.server; }
  // Higher than every order in the file.
  uint64_t next_order() const { return next_order_; }
  // How many bytes of records fit, with room to move them about.
  uint64_t capacity() const { return ring_ / 4 * 3; }
  // The same of a file of this size, at least kHeadBytes.
  static uint64_t CapacityOf(uint64_t size) {
    return (size - kHeadBytes) / 4 * 3;
  }
  // Of one record's payload.
  uint64_t max_payload() const;

  // What a record of this payload takes.
  static uint64_t SizeOnDisk(absl::string_view payload);

 private:
  struct Superblock {
    uint64_t generation = 0;
    uint64_t ring = 0;
    uint64_t sent = 0;
    uint64_t gone = 0;
    uint64_t server = 0;
  };
  struct Place {
    uint64_t position = 0;
    uint64_t size = 0;
    bool may_be_sent = false;
    bool damaged = false;  // found so when it was to be moved
  };
  struct Header;

  explicit SpoolFile(std::unique_ptr<SpoolDisk> disk)
      : disk_(std::move(disk)) {}

  static std::optional<Superblock> Decode(absl::string_view block);
  static std::string Encode(const Superblock& superblock);
  absl::Status ReadSuperblocks(Recovery* recovery);
  absl::Status Scan(Recovery* recovery);
  void CountDamage(const std::map<uint64_t, uint64_t>& end_of_record,
                   uint64_t first, Recovery* recovery) const;

  // One superblock is durable, the other one is written.
  absl::Status WriteSuperblock();
  absl::Status Sync();
  absl::Status Write(uint64_t order, bool may_be_sent,
                     absl::string_view payload);
  absl::Status MakeRoom(uint64_t size);
  absl::Status MoveFirst();
  // Where a record of this size goes: at the end, but never across the edge.
  uint64_t PlaceFor(uint64_t size) const;
  uint64_t OffsetOf(uint64_t position) const {
    return kHeadBytes + position % ring_;
  }

  const std::unique_ptr<SpoolDisk> disk_;
  uint64_t ring_ = 0;
  uint64_t end_ = 0;  // position after the last record
  uint64_t next_order_ = 1;
  uint64_t live_bytes_ = 0;
  std::map<uint64_t, Place> places_;          // by order
  std::map<uint64_t, uint64_t> by_position_;  // orders
  std::optional<uint64_t> unsettled_;         // position of a failed Put()
  Superblock wanted_;                         // as it is in memory
  Superblock durable_;                        // as it is on disk for sure
  Superblock written_;                        // on its way
  bool written_unsynced_ = false;
  int durable_slot_ = 0;
};

}  // namespace swaplock

#endif  // SWAPLOCK_AGENT_DELIVERY_SPOOL_FILE_H_
