// The compiler of the BPF programs and ours lay the shared structs out alike:
// every member's offset and size in the object's BTF is C++'s.
#include "agent/bpf/hold_record.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>

#include "agent/bpf/hold_sampler.skel.h"

namespace swaplock {
namespace {

struct Expected {
  size_t size;
  std::map<std::string, size_t> offsets;
};

#define MEMBER(type, name) \
  { #name, offsetof(type, name) }

const std::map<std::string, Expected>& Structs() {
  static const auto* const structs = new std::map<std::string, Expected>{
      {"sl_dist",
       {sizeof(sl_dist),
        {MEMBER(sl_dist, slot), MEMBER(sl_dist, over_1ms),
         MEMBER(sl_dist, over_10ms), MEMBER(sl_dist, over_100ms),
         MEMBER(sl_dist, max_window), MEMBER(sl_dist, reserved),
         MEMBER(sl_dist, sum_ns), MEMBER(sl_dist, max_ns)}}},
      {"sl_cell",
       {sizeof(sl_cell),
        {MEMBER(sl_cell, sequence), MEMBER(sl_cell, reserved),
         MEMBER(sl_cell, on_cpu_ns), MEMBER(sl_cell, unknown_ns),
         MEMBER(sl_cell, waits_owner_running),
         MEMBER(sl_cell, waits_owner_runnable),
         MEMBER(sl_cell, waits_owner_blocked),
         MEMBER(sl_cell, wait_owner_runnable_ns), MEMBER(sl_cell, inversions),
         MEMBER(sl_cell, wait), MEMBER(sl_cell, hold),
         MEMBER(sl_cell, runnable), MEMBER(sl_cell, blocked)}}},
      {"sl_cpu",
       {sizeof(sl_cpu),
        {MEMBER(sl_cpu, holder), MEMBER(sl_cpu, spin_lock),
         MEMBER(sl_cpu, spin_begin_ns), MEMBER(sl_cpu, spin_cell),
         MEMBER(sl_cpu, top_window), MEMBER(sl_cpu, top_ns),
         MEMBER(sl_cpu, loss), MEMBER(sl_cpu, reserved)}}},
      {"sl_lock",
       {sizeof(sl_lock), {MEMBER(sl_lock, cell), MEMBER(sl_lock, kind)}}},
      {"sl_row",
       {sizeof(sl_row), {MEMBER(sl_row, lock), MEMBER(sl_row, cell)}}},
      {"sl_comp",
       {sizeof(sl_comp),
        {MEMBER(sl_comp, comp), MEMBER(sl_comp, base),
         MEMBER(sl_comp, reserved)}}},
      {"sl_top_hold",
       {sizeof(sl_top_hold),
        {MEMBER(sl_top_hold, acquired_ns), MEMBER(sl_top_hold, hold_ns),
         MEMBER(sl_top_hold, on_cpu_ns), MEMBER(sl_top_hold, runnable_ns),
         MEMBER(sl_top_hold, blocked_ns), MEMBER(sl_top_hold, unknown_ns),
         MEMBER(sl_top_hold, wait_ns), MEMBER(sl_top_hold, window),
         MEMBER(sl_top_hold, cell), MEMBER(sl_top_hold, pid),
         MEMBER(sl_top_hold, tgid), MEMBER(sl_top_hold, static_prio),
         MEMBER(sl_top_hold, policy), MEMBER(sl_top_hold, acquire_cpu),
         MEMBER(sl_top_hold, release_cpu), MEMBER(sl_top_hold, preemptions),
         MEMBER(sl_top_hold, reserved), MEMBER(sl_top_hold, comm)}}},
  };
  return *structs;
}

TEST(HoldRecordTest, BtfOffsetsAreOurs) {
  size_t size = 0;
  const void* elf = hold_sampler::elf_bytes(&size);
  bpf_object* object = bpf_object__open_mem(elf, size, nullptr);
  ASSERT_NE(object, nullptr);
  const btf* types = bpf_object__btf(object);
  ASSERT_NE(types, nullptr);
  for (const auto& [name, expected] : Structs()) {
    const int32_t id =
        btf__find_by_name_kind(types, name.c_str(), BTF_KIND_STRUCT);
    ASSERT_GT(id, 0) << "struct " << name << " is not in the object";
    const btf_type* t = btf__type_by_id(types, static_cast<uint32_t>(id));
    EXPECT_EQ(t->size, expected.size) << name;
    std::map<std::string, size_t> offsets;
    for (uint32_t i = 0; i < btf_vlen(t); ++i) {
      offsets[btf__name_by_offset(types, btf_members(t)[i].name_off)] =
          btf_member_bit_offset(t, i) / 8;
    }
    EXPECT_EQ(offsets, expected.offsets) << name;
  }
  bpf_object__close(object);
}

}  // namespace
}  // namespace swaplock
