#include "agent/device_cells.h"

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
      builder_->SetMeaning(SL_BASE_ZSWAP + op,
                           {{Subsystem::kZswap, ZswapOperation(op),
                             Role::kStream, Mode::kExclusive, "", algorithm},
                            plan_.zswap_model,
                            plan_.zswap_hold,
                            plan_.wait,
                            op == SL_OP_WRITEBACK});
    }
  }

  // The cells of one compressor, from `base` on.
  void Stream(int base, const std::string& device, const std::string& algorithm,
              bool known) {
    const Tier hold = plan_.zram_hold;
    for (int op = 0; op < SL_OPS; ++op) {
      // A tier that cannot tell operations apart has one cell.
      if (hold == Tier::kOwnerProbe && op != SL_OP_ANY) continue;
      const bool always = known && (hold == Tier::kOwnerProbe ||
                                    op == SL_OP_LOAD || op == SL_OP_STORE);
      builder_->SetMeaning(base + op,
                           {{Subsystem::kZram, ZramOperation(op), Role::kStream,
                             Mode::kExclusive, device, algorithm},
                            plan_.zram_model,
                            hold,
                            plan_.wait,
                            !always});
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
  const Plan& plan_;
  WindowBuilder* builder_;
};

}  // namespace

LockTables AssignCells(const Plan& plan,
                       const std::vector<DeviceLocks>& devices,
                       const ZswapLocks& zswap,
                       const std::vector<uint64_t>& cpu_offsets,
                       int cells_per_cpu, WindowBuilder* builder) {
  LockTables out;
  out.rows.resize(cpu_offsets.size());
  for (int i = 0; i < cells_per_cpu; ++i) builder->ClearMeaning(i);
  Assigner assigner(plan, builder);
  assigner.Zswap(zswap);
  if (CountsHolds(plan.zram_hold)) {
    assigner.Stream(SL_BASE_ZRAM_OTHER, "", "", /*known=*/false);
  }
  const bool waits = plan.wait != Tier::kUnspecified;
  size_t row_length = 0;
  const auto add_per_cpu = [&](uint64_t pointer, uint32_t cell,
                               sl_lock_kind kind) {
    for (size_t cpu = 0; cpu < cpu_offsets.size(); ++cpu) {
      const uint64_t address = pointer + cpu_offsets[cpu];
      if (waits) {
        out.locks.push_back({address, {cell, static_cast<uint32_t>(kind)}});
      }
      if (row_length < SL_ROW_LOCKS) {
        out.rows[cpu].lock[row_length] = address;
        out.rows[cpu].cell[row_length] = cell;
      }
    }
    ++row_length;
  };
  for (const uint64_t pointer : zswap.locks) {
    add_per_cpu(pointer, SL_BASE_ZSWAP + SL_OP_ANY, SL_LOCK_OWNED);
  }
  int next = SL_BASE_DEVICES;
  for (const DeviceLocks& d : devices) {
    const int wanted =
        SL_OPS * static_cast<int>(d.locks.compressors.size()) + SL_ZS_CELLS;
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
      next += SL_OPS;
      if (plan.zram_hold != Tier::kUnspecified || waits) {
        assigner.Stream(static_cast<int>(base), d.device.name, algorithm,
                        /*known=*/c.priority == 0);
      }
      out.comps.push_back({c.comp, base, 0});
      if (plan.zram_model != LockModel::kMutex) continue;
      const bool held = CountsHolds(plan.zram_hold);
      for (size_t cpu = 0; cpu < cpu_offsets.size(); ++cpu) {
        const uint64_t address = c.stream_lock + cpu_offsets[cpu];
        if (waits) {
          out.locks.push_back(
              {address,
               {base + SL_OP_ANY,
                static_cast<uint32_t>(held ? SL_LOCK_HELD : SL_LOCK_OWNED)}});
        }
        if (row_length < SL_ROW_LOCKS) {
          out.rows[cpu].lock[row_length] = address;
          out.rows[cpu].cell[row_length] = base + SL_OP_ANY;
        }
      }
      ++row_length;
    }
    if (!waits) continue;
    const uint32_t pool = static_cast<uint32_t>(next);
    next += SL_ZS_CELLS;
    assigner.Pool(static_cast<int>(pool), d.device.name,
                  d.device.algorithms.empty() ? "" : d.device.algorithms[0]);
    for (const uint64_t address : d.locks.class_locks) {
      out.locks.push_back({address, {pool + SL_ZS_CLASS, SL_LOCK_SPIN}});
    }
    if (d.locks.pool_lock != 0) {
      const bool rw = plan.pool_model == LockModel::kRwlock;
      out.locks.push_back(
          {d.locks.pool_lock,
           {pool + SL_ZS_POOL_EXCLUSIVE,
            static_cast<uint32_t>(rw ? SL_LOCK_RW_SPIN : SL_LOCK_SPIN)}});
    }
  }
  return out;
}

}  // namespace swaplock
