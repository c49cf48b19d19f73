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
         MEMBER(sl_cell, preempted_ns), MEMBER(sl_cell, woken_ns),
         MEMBER(sl_cell, throttled_ns), MEMBER(sl_cell, migrations),
         MEMBER(sl_cell, untimed), MEMBER(sl_cell, wait), MEMBER(sl_cell, hold),
         MEMBER(sl_cell, runnable), MEMBER(sl_cell, blocked)}}},
      {"sl_top",
       {sizeof(sl_top),
        {MEMBER(sl_top, window), MEMBER(sl_top, reserved),
         MEMBER(sl_top, least), MEMBER(sl_top, ns)}}},
      {"sl_actor",
       {sizeof(sl_actor),
        {MEMBER(sl_actor, ns), MEMBER(sl_actor, pid),
         MEMBER(sl_actor, static_prio), MEMBER(sl_actor, policy),
         MEMBER(sl_actor, reserved), MEMBER(sl_actor, comm)}}},
      {"sl_cpu",
       {sizeof(sl_cpu),
        {MEMBER(sl_cpu, holder), MEMBER(sl_cpu, spin_lock),
         MEMBER(sl_cpu, spin_begin_ns), MEMBER(sl_cpu, spin_cell),
         MEMBER(sl_cpu, reserved), MEMBER(sl_cpu, off_holder),
         MEMBER(sl_cpu, runner_since_ns), MEMBER(sl_cpu, ran),
         MEMBER(sl_cpu, top_holds), MEMBER(sl_cpu, top_waits),
         MEMBER(sl_cpu, loss)}}},
      {"sl_lock",
       {sizeof(sl_lock), {MEMBER(sl_lock, cell), MEMBER(sl_lock, kind)}}},
      {"sl_row",
       {sizeof(sl_row), {MEMBER(sl_row, lock), MEMBER(sl_row, cell)}}},
      {"sl_comp",
       {sizeof(sl_comp),
        {MEMBER(sl_comp, comp), MEMBER(sl_comp, base),
         MEMBER(sl_comp, reserved)}}},
      {"sl_zram_device",
       {sizeof(sl_zram_device),
        {MEMBER(sl_zram_device, zram), MEMBER(sl_zram_device, base),
         MEMBER(sl_zram_device, reserved)}}},
      {"sl_latency",
       {sizeof(sl_latency),
        {MEMBER(sl_latency, sequence), MEMBER(sl_latency, reserved),
         MEMBER(sl_latency, operations)}}},
      {"sl_hold_facts",
       {sizeof(sl_hold_facts), {MEMBER(sl_hold_facts, record),
                                MEMBER(sl_hold_facts, window),
                                MEMBER(sl_hold_facts, acquired_ns),
                                MEMBER(sl_hold_facts, hold_ns),
                                MEMBER(sl_hold_facts, on_cpu_ns),
                                MEMBER(sl_hold_facts, runnable_ns),
                                MEMBER(sl_hold_facts, blocked_ns),
                                MEMBER(sl_hold_facts, unknown_ns),
                                MEMBER(sl_hold_facts, preempted_ns),
                                MEMBER(sl_hold_facts, woken_ns),
                                MEMBER(sl_hold_facts, throttled_ns),
                                MEMBER(sl_hold_facts, wait_ns),
                                MEMBER(sl_hold_facts, lock),
                                MEMBER(sl_hold_facts, cgroup),
                                MEMBER(sl_hold_facts, cell),
                                MEMBER(sl_hold_facts, pid),
                                MEMBER(sl_hold_facts, tgid),
                                MEMBER(sl_hold_facts, static_prio),
                                MEMBER(sl_hold_facts, policy),
                                MEMBER(sl_hold_facts, acquire_cpu),
                                MEMBER(sl_hold_facts, release_cpu),
                                MEMBER(sl_hold_facts, preemptions),
                                MEMBER(sl_hold_facts, migrations),
                                MEMBER(sl_hold_facts, reserved),
                                MEMBER(sl_hold_facts, comm)}}},
      {"sl_top_hold",
       {sizeof(sl_top_hold),
        {MEMBER(sl_top_hold, facts), MEMBER(sl_top_hold, ran),
         MEMBER(sl_top_hold, release_stack),
         MEMBER(sl_top_hold, switch_stack)}}},
      {"sl_top_wait",
       {sizeof(sl_top_wait),
        {MEMBER(sl_top_wait, record), MEMBER(sl_top_wait, window),
         MEMBER(sl_top_wait, begin_ns), MEMBER(sl_top_wait, wait_ns),
         MEMBER(sl_top_wait, lock), MEMBER(sl_top_wait, cell),
         MEMBER(sl_top_wait, owner_pid), MEMBER(sl_top_wait, pid),
         MEMBER(sl_top_wait, static_prio), MEMBER(sl_top_wait, policy),
         MEMBER(sl_top_wait, inversion), MEMBER(sl_top_wait, comm)}}},
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
