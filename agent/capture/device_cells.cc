#include "agent/capture/device_cells.h"

#include <initializer_list>
#include <utility>

namespace swaplock {
namespace {

Operation ZramOperation(int op) {
  switch (op) {
    case SL_OP_LOAD:
      return Operation::kRead;
    case SL_OP_STORE:
      return Operation::kWrite;
    case SL_OP_RECOMPRESS:
      return Operation::kRecompress;
    case SL_OP_WRITEBACK:
      return Operation::kWriteback;
    default:
      return Operation::kUnspecified;
  }
}

Operation ZswapOperation(int op) {
  switch (op) {
    case SL_OP_LOAD:
      return Operation::kLoad;
    case SL_OP_STORE:
      return Operation::kStore;
    case SL_OP_WRITEBACK:
      return Operation::kWriteback;
    default:
      return Operation::kUnspecified;
  }
}

class Assigner {
 public:
  Assigner(const Plan& plan, WindowBuilder* builder)
      : plan_(plan), builder_(builder) {}

  void Zswap(const ZswapLocks& zswap) {
    const std::string& algorithm = zswap.algorithm;
    if (!zswap.locks.empty()) {
      builder_->SetMeaning(SL_BASE_ZSWAP + SL_OP_ANY,
                           {{Subsystem::kZswap, Operation::kUnspecified,
                             Role::kStream, Mode::kExclusive, "", algorithm},
                            plan_.zswap_model,
                            plan_.zswap_hold,
                            plan_.wait,
                            false});
    }
    if (!CountsHolds(plan_.zswap_hold)) return;
    for (const int op : {SL_OP_LOAD, SL_OP_STORE, SL_OP_WRITEBACK}) {
      Role role = Role::kStream;
      if (plan_.zswap_model == LockModel::kSplitMutex) {
        role =
            op == SL_OP_STORE ? Role::kCompressStream : Role::kDecompressStream;
      }
      builder_->SetMeaning(
          SL_BASE_ZSWAP + op,
          {{Subsystem::kZswap, ZswapOperation(op), role, Mode::kExclusive, "",
            algorithm},
           plan_.zswap_model,
           plan_.zswap_hold,
           plan_.wait,
           op == SL_OP_WRITEBACK ||
               (op == SL_OP_LOAD && plan_.zswap_lock_free_loads)});
    }
  }

  // The cells of one compressor, from `base` on.
  void Stream(int base, const std::string& device, const std::string& algorithm,
              bool known) {
    if (!plan_.SplitStreams()) {
      Lane(base, device, algorithm, Role::kStream, Mode::kExclusive,
           plan_.zram_model, known ? AllOf({SL_OP_LOAD, SL_OP_STORE}) : 0);
      return;
    }
    Lane(base + SL_LANE_STREAM * SL_OPS, device, algorithm,
         Role::kCompressStream, Mode::kExclusive, plan_.zram_model,
         known ? AllOf({SL_OP_STORE}) : 0);
    Lane(base + SL_LANE_EXCLUSIVE * SL_OPS, device, algorithm,
         Role::kDecompressStream, Mode::kExclusive, plan_.zram_exclusive_model,
         known ? AllOf({SL_OP_LOAD}) : 0);
    if (plan_.zram_shared_model == LockModel::kUnspecified) return;
    Lane(base + SL_LANE_SHARED * SL_OPS, device, algorithm,
         Role::kDecompressStream, Mode::kShared, plan_.zram_shared_model,
         known ? AllOf({SL_OP_LOAD}) : 0);
  }

  // Reads and writes of one device; "" stands for those not told apart.
  void Bios(int base, const std::string& device, const std::string& algorithm,
            bool known) {
    if (plan_.zram_latency == Tier::kUnspecified) return;
    for (const int op : {SL_OP_LOAD, SL_OP_STORE}) {
      // Reads of split streams take one lock or the other.
      const LockModel model =
          op == SL_OP_LOAD && plan_.SplitStreams()
              ? (plan_.zram_shared_model == LockModel::kUnspecified
                     ? plan_.zram_exclusive_model
                     : LockModel::kUnspecified)
              : plan_.zram_model;
      Latency(base + op, Subsystem::kZram, ZramOperation(op), device, algorithm,
              model, plan_.zram_latency, !known);
    }
  }

  void Commands() {
    if (plan_.zram_latency == Tier::kUnspecified) return;
    for (const int op : {SL_OP_RECOMPRESS, SL_OP_WRITEBACK}) {
      Latency(SL_LATENCY_ZRAM_OTHER + op, Subsystem::kZram, ZramOperation(op),
              "", "", plan_.zram_model, plan_.zram_latency, true);
    }
  }

  void ZswapOperations(const std::string& algorithm) {
    if (plan_.zswap_latency == Tier::kUnspecified) return;
    for (const int op : {SL_OP_LOAD, SL_OP_STORE, SL_OP_WRITEBACK}) {
      Latency(SL_LATENCY_ZSWAP + op, Subsystem::kZswap, ZswapOperation(op), "",
              algorithm, plan_.zswap_model, plan_.zswap_latency,
              op == SL_OP_WRITEBACK);
    }
    if (!plan_.zswap_lock_free_loads) return;
    for (const int op : {SL_OP_LOAD, SL_OP_WRITEBACK}) {
      Latency(SL_LATENCY_ZSWAP_LOCK_FREE + op, Subsystem::kZswap,
              ZswapOperation(op), "", algorithm, LockModel::kNone,
              plan_.zswap_latency, true);
    }
  }

  void Pool(int base, const std::string& device, const std::string& algorithm) {
    const struct {
      int cell;
      Role role;
      Mode mode;
      LockModel model;
    } rows[] = {
        {SL_ZS_CLASS, Role::kSizeClass, Mode::kExclusive,
         plan_.size_class_model},
        {SL_ZS_POOL_SHARED, Role::kPool, Mode::kShared, plan_.pool_model},
        {SL_ZS_POOL_EXCLUSIVE, Role::kPool, Mode::kExclusive, plan_.pool_model},
    };
    for (const auto& row : rows) {
      if (row.model == LockModel::kUnspecified) continue;
      if (row.mode == Mode::kShared && row.model != LockModel::kRwlock) {
        continue;
      }
      builder_->SetMeaning(base + row.cell,
                           {{Subsystem::kZsmalloc, Operation::kUnspecified,
                             row.role, row.mode, device, algorithm},
                            row.model,
                            Tier::kUnspecified,
                            plan_.wait,
                            false});
    }
  }

 private:
  // A set of operations, bit by bit.
  static unsigned AllOf(std::initializer_list<int> operations) {
    unsigned out = 0;
    for (const int op : operations) out |= 1u << op;
    return out;
  }

  // `always`: the operations whose cells are there also when nothing happens.
  void Lane(int base, const std::string& device, const std::string& algorithm,
            Role role, Mode mode, LockModel model, unsigned always) {
    for (int op = 0; op < SL_OPS; ++op) {
      // A tier that cannot tell operations apart has one cell.
      const bool any_only = plan_.zram_hold == Tier::kOwnerProbe;
      if (any_only && op != SL_OP_ANY) continue;
      builder_->SetMeaning(
          base + op,
          {{Subsystem::kZram, ZramOperation(op), role, mode, device, algorithm},
           model,
           plan_.zram_hold,
           plan_.wait,
           (any_only ? always : always >> op & 1) == 0});
    }
  }

  void Latency(int index, Subsystem subsystem, Operation operation,
               const std::string& device, const std::string& algorithm,
               LockModel model, Tier tier, bool only_if_used) {
    builder_->SetLatencyMeaning(
        index, {{subsystem, operation, Role::kUnspecified, Mode::kUnspecified,
                 device, algorithm},
                model,
                tier,
                only_if_used});
  }

  const Plan& plan_;
  WindowBuilder* builder_;
};

}  // namespace

int Lanes(const Plan& plan) { return plan.SplitStreams() ? SL_LANES : 1; }

int ZswapPoolCell(const Plan& plan) {
  return SL_BASE_ZRAM_OTHER + Lanes(plan) * SL_OPS;
}

int FirstDeviceCell(const Plan& plan) {
  return ZswapPoolCell(plan) + SL_ZS_CELLS;
}

int DeviceCells(const Plan& plan, int compressors) {
  return Lanes(plan) * SL_OPS * compressors + SL_ZS_CELLS;
}

LockTables AssignCells(const Plan& plan,
                       const std::vector<DeviceLocks>& devices,
                       const ZswapLocks& zswap,
                       const std::vector<uint64_t>& cpu_offsets,
                       int cells_per_cpu, WindowBuilder* builder) {
  LockTables out;
  out.rows.resize(cpu_offsets.size());
  for (int i = 0; i < cells_per_cpu; ++i) builder->ClearMeaning(i);
  builder->ClearLatencyMeanings();
  Assigner assigner(plan, builder);
  assigner.Zswap(zswap);
  assigner.ZswapOperations(zswap.algorithm);
  assigner.Bios(SL_LATENCY_ZRAM_OTHER, "", "", /*known=*/false);
  assigner.Commands();
  if (CountsHolds(plan.zram_hold)) {
    assigner.Stream(SL_BASE_ZRAM_OTHER, "", "", /*known=*/false);
  }
  const bool waits = plan.wait != Tier::kUnspecified;
  size_t row_length = 0;
  const auto add_per_cpu = [&](uint64_t pointer, uint32_t cell,
                               sl_lock_kind kind, bool has_owner) {
    for (size_t cpu = 0; cpu < cpu_offsets.size(); ++cpu) {
      const uint64_t address = pointer + cpu_offsets[cpu];
      if (waits) {
        out.locks.push_back({address, {cell, static_cast<uint32_t>(kind)}});
      }
      if (has_owner && row_length < SL_ROW_LOCKS) {
        out.rows[cpu].lock[row_length] = address;
        out.rows[cpu].cell[row_length] = cell;
      }
    }
    if (has_owner) ++row_length;
  };
  for (const uint64_t pointer : zswap.locks) {
    add_per_cpu(pointer, SL_BASE_ZSWAP + SL_OP_ANY, SL_LOCK_OWNED,
                /*has_owner=*/true);
  }
  const auto add_pool = [&](const PoolLocks& locks, uint32_t cell) {
    for (const uint64_t address : locks.class_locks) {
      out.locks.push_back({address, {cell + SL_ZS_CLASS, SL_LOCK_SPIN}});
    }
    if (locks.pool_lock == 0) return;
    const bool rw = plan.pool_model == LockModel::kRwlock;
    out.locks.push_back(
        {locks.pool_lock,
         {cell + SL_ZS_POOL_EXCLUSIVE,
          static_cast<uint32_t>(rw ? SL_LOCK_RW_SPIN : SL_LOCK_SPIN)}});
  };
  if (waits && !zswap.pools.empty()) {
    const int cell = ZswapPoolCell(plan);
    assigner.Pool(cell, "", zswap.algorithm);
    for (const PoolLocks& pool : zswap.pools) {
      add_pool(pool, static_cast<uint32_t>(cell));
    }
  }
  int next = FirstDeviceCell(plan);
  for (const DeviceLocks& d : devices) {
    if (out.zram_devices.size() < SL_ZRAM_DEVICES) {
      const int base = SL_LATENCY_DEVICES +
                       SL_OPS * static_cast<int>(out.zram_devices.size());
      assigner.Bios(base, d.device.name,
                    d.device.algorithms.empty() ? "" : d.device.algorithms[0],
                    /*known=*/true);
      out.zram_devices.push_back({d.zram, static_cast<uint32_t>(base), 0});
    }
    const int wanted =
        DeviceCells(plan, static_cast<int>(d.locks.compressors.size()));
    if (next + wanted > cells_per_cpu ||
        out.comps.size() + d.locks.compressors.size() > SL_COMPS) {
      out.left_out.push_back(d.device.name);
      continue;
    }
    for (const ZramCompressor& c : d.locks.compressors) {
      const size_t priority = static_cast<size_t>(c.priority);
      const std::string algorithm = priority < d.device.algorithms.size()
                                        ? d.device.algorithms[priority]
                                        : "";
      const uint32_t base = static_cast<uint32_t>(next);
      next += SL_OPS * Lanes(plan);
      if (plan.zram_hold != Tier::kUnspecified || waits) {
        assigner.Stream(static_cast<int>(base), d.device.name, algorithm,
                        /*known=*/c.priority == 0);
      }
      out.comps.push_back({c.comp, base, 0});
      const bool held = CountsHolds(plan.zram_hold);
      for (const StreamLock& lock : c.locks) {
        if (plan.zram_model == LockModel::kPreemptOff) continue;
        const uint32_t lane = lock.role == Role::kDecompressStream
                                  ? SL_LANE_EXCLUSIVE
                                  : SL_LANE_STREAM;
        add_per_cpu(lock.pointer, base + lane * SL_OPS + SL_OP_ANY,
                    held ? SL_LOCK_HELD : SL_LOCK_OWNED, lock.mutex);
      }
    }
    if (!waits) continue;
    const uint32_t pool = static_cast<uint32_t>(next);
    next += SL_ZS_CELLS;
    assigner.Pool(static_cast<int>(pool), d.device.name,
                  d.device.algorithms.empty() ? "" : d.device.algorithms[0]);
    add_pool(d.locks.pool, pool);
  }
  return out;
}

}  // namespace swaplock
