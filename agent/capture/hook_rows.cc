#include "agent/capture/hook_rows.h"

namespace swaplock {
namespace {

using Row = HookRow;

constexpr ProbeKind kFentry = ProbeKind::kFentry;
constexpr ProbeKind kFexit = ProbeKind::kFexit;

// One stream that was seen to be got: what does not compress reads.
bool ReadsAreTheRest(const std::vector<Attachment>& taken) {
  return Attaches(taken, "zram_get") && (Attaches(taken, "zram_compress") ||
                                         Attaches(taken, "zram_compress_k"));
}

// Streams of their own for writes and for reads say which it is.
bool StreamsTell(const std::vector<Attachment>& taken) {
  return Attaches(taken, "zram_get") && Attaches(taken, "zram_read_get");
}

}  // namespace

// drivers/block/zram/zcomp.c; the sysfs files are those of
// https://docs.kernel.org/admin-guide/blockdev/zram.html. The twin of the get
// programs is entered, not left: see zram_hooks.bpf.h.
const std::vector<HookRow>& ZramRows() {
  static const auto* const rows = new std::vector<Row>{
      {"zram_get",
       kFexit,
       {"zcomp_stream_get", "zcomp_cstrm_get"},
       Row::kRequired,
       Row::kTrampoline,
       ProbeKind::kKprobe},
      {"zram_put",
       kFentry,
       {"zcomp_stream_put", "zcomp_cstrm_put"},
       Row::kRequired},
      {"zram_recompress_begin", kFentry, {"recompress_store"}, Row::kOptional},
      {"zram_recompress_end", kFexit, {"recompress_store"}, Row::kOptional},
      {"zram_writeback_begin", kFentry, {"writeback_store"}, Row::kOptional},
      {"zram_writeback_end", kFexit, {"writeback_store"}, Row::kOptional},
  };
  return *rows;
}

// One stream: its holder is alone also when it reads.
const std::vector<HookRow>& ZramOneStreamRows() {
  static const auto* const rows = new std::vector<Row>{
      {"zram_compress", kFentry, {"zcomp_compress"}, Row::kOptional},
      {"zram_decompress",
       kFentry,
       {"zcomp_decompress"},
       Row::kOptional,
       Row::kTrampoline,
       ProbeKind::kKprobe,
       ReadsAreTheRest},
  };
  return *rows;
}

// The October 2026 series: streams of their own for reads, which several tasks
// may hold.
const std::vector<HookRow>& ZramReadRows() {
  static const auto* const rows = new std::vector<Row>{
      {"zram_read_get",
       kFexit,
       {"zcomp_dstrm_get"},
       Row::kRequired,
       Row::kTrampoline,
       ProbeKind::kKprobe},
      {"zram_read_put",
       kFentry,
       {"zcomp_dstrm_put"},
       Row::kRequired,
       Row::kKprobe},
      {"zram_compress",
       kFentry,
       {"zcomp_compress"},
       Row::kOptional,
       Row::kTrampoline,
       ProbeKind::kKprobe,
       StreamsTell},
      {"zram_decompress",
       kFentry,
       {"zcomp_decompress"},
       Row::kOptional,
       Row::kKprobe,
       ProbeKind::kKprobe,
       StreamsTell},
  };
  return *rows;
}

// Reads and writes as zram's callers see them. 5.9 on; swap came in by another
// way up to 6.1 (zram_rw_page()), and is not seen there.
const std::vector<HookRow>& ZramLatencyRows() {
  static const auto* const rows = new std::vector<Row>{
      {"zram_bio_begin",
       kFentry,
       {"zram_submit_bio"},
       Row::kRequired,
       Row::kTrampolineOnly},
      {"zram_bio_end",
       kFexit,
       {"zram_submit_bio"},
       Row::kRequired,
       Row::kTrampolineOnly},
  };
  return *rows;
}

// zswap's lock and unlock are inlined, so the first and the last function
// called inside the lock stand for them. mm/zswap.c: zswap_compress() and
// zswap_decompress().
const std::vector<HookRow>& ZswapStoreRows() {
  static const auto* const rows = new std::vector<Row>{
      {"zswap_store_begin",
       kFentry,
       {"zswap_store", "zswap_frontswap_store"},
       Row::kRequired,
       Row::kKprobe},
      {"zswap_store_end",
       kFexit,
       {"zswap_store", "zswap_frontswap_store"},
       Row::kRequired},
      // A function of its own since 6.16, before that inlined.
      {"zswap_acquire_store",
       kFentry,
       {"crypto_acomp_compress", "scomp_acomp_compress"},
       Row::kRequired},
      {"zswap_release_store",
       kFexit,
       {"zs_obj_write", "zpool_unmap_handle"},
       Row::kRequired},
  };
  return *rows;
}

// Kernels with zswap_decompress(), 6.8 on: the object is mapped inside the
// lock.
const std::vector<HookRow>& ZswapLoadRows() {
  static const auto* const rows = new std::vector<Row>{
      {"zswap_load_begin",
       kFentry,
       {"zswap_decompress"},
       Row::kRequired,
       Row::kKprobe},
      {"zswap_load_end", kFexit, {"zswap_decompress"}, Row::kRequired},
      {"zswap_acquire_load",
       kFentry,
       {"zs_obj_read_sg_begin", "zs_obj_read_begin", "zpool_map_handle"},
       Row::kRequired},
      {"zswap_release_load",
       kFexit,
       {"zs_obj_read_sg_end", "zs_obj_read_end", "scomp_acomp_decompress"},
       Row::kRequired},
      {"zswap_shrink_begin",
       kFentry,
       {"shrink_memcg_cb"},
       Row::kOptional,
       Row::kKprobe},
      {"zswap_shrink_end", kFexit, {"shrink_memcg_cb"}, Row::kOptional},
  };
  return *rows;
}

// 5.11 to 6.7: the object is mapped before the lock, so only the codec itself
// lies inside it.
const std::vector<HookRow>& OldZswapLoadRows() {
  static const auto* const rows = new std::vector<Row>{
      {"zswap_load_begin",
       kFentry,
       {"zswap_load", "zswap_frontswap_load"},
       Row::kRequired,
       Row::kKprobe},
      {"zswap_load_end",
       kFexit,
       {"zswap_load", "zswap_frontswap_load"},
       Row::kRequired},
      {"zswap_writeback_begin",
       kFentry,
       {"zswap_writeback_entry"},
       Row::kOptional,
       Row::kKprobe},
      {"zswap_writeback_end",
       kFexit,
       {"zswap_writeback_entry"},
       Row::kOptional},
      {"zswap_acquire_load",
       kFentry,
       {"scomp_acomp_decompress"},
       Row::kRequired},
      {"zswap_release_load",
       kFexit,
       {"scomp_acomp_decompress"},
       Row::kRequired},
  };
  return *rows;
}

}  // namespace swaplock
