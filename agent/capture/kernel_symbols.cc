#include "agent/capture/kernel_symbols.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/utsname.h>

#include <iterator>
#include <memory>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace swaplock {
namespace {

// Everything the catalogue may ask about. A name that is missing here is
// missing on every kernel, so the catalogue's tests would notice.
constexpr const char* kFunctions[] = {
    // zram, drivers/block/zram
    "zcomp_stream_get", "zcomp_stream_put", "zcomp_cstrm_get",
    "zcomp_cstrm_put", "zcomp_dstrm_get", "zcomp_dstrm_put", "zcomp_compress",
    "zcomp_decompress", "recompress_store", "writeback_store",
    "zram_submit_bio",
    // zswap, mm/zswap.c
    "zswap_store", "zswap_load", "zswap_frontswap_store",
    "zswap_frontswap_load", "zswap_decompress", "__zswap_decompress",
    "zswap_writeback_entry", "shrink_memcg_cb",
    // what zswap calls inside its lock
    "crypto_acomp_compress", "scomp_acomp_compress", "scomp_acomp_decompress",
    "zs_obj_write", "zs_obj_read_begin", "zs_obj_read_end",
    "zs_obj_read_sg_begin", "zs_obj_read_sg_end", "zpool_map_handle",
    "zpool_unmap_handle"};

constexpr const char* kTracepoints[] = {"contention_begin", "contention_end",
                                        "sched_switch", "sched_wakeup",
                                        "block_bio_queue"};

constexpr struct {
  const char* type;
  const char* member;
} kMembers[] = {
    {"zcomp_strm", "lock"},
    {"zcomp_strm", "buffer"},
    {"zcomp_cstrm", "lock"},
    {"zcomp_dstrm", "lock"},
    {"zcomp_dstrm", "excl_lock"},
    {"zcomp_dstrm", "excl_locked"},
    {"zcomp", "stream"},
    {"zcomp", "cstream"},
    {"zcomp", "dstream"},
    {"zram", "comps"},
    {"zram", "comp"},
    {"zram", "mem_pool"},
    {"zram", "comp_algs"},
    {"zram", "compressor"},
    {"zs_pool", "size_class"},
    {"zs_pool", "lock"},
    {"zs_pool", "migrate_lock"},
    {"size_class", "lock"},
    {"crypto_acomp_ctx", "mutex"},
    {"crypto_acomp_ctx", "comp"},
    {"crypto_acomp_ctx", "decomp"},
    {"zswap_acomp_req", "req"},
    {"zswap_acomp_req", "mutex"},
    {"zswap_pool", "acomp_ctx"},
    {"zswap_pool", "zs_pool"},
    {"task_struct", "sched_info"},
    {"mutex", "owner"},
};

constexpr const char* kModules[] = {"zram", "zsmalloc"};

struct BtfDeleter {
  void operator()(btf* b) const { btf__free(b); }
};
using BtfPtr = std::unique_ptr<btf, BtfDeleter>;

const btf_type* SkipModifiers(const btf* b, uint32_t id) {
  const btf_type* t = btf__type_by_id(b, id);
  while (t != nullptr && (btf_is_mod(t))) t = btf__type_by_id(b, t->type);
  return t;
}

std::string TypeName(const btf* b, uint32_t id) {
  const btf_type* t = SkipModifiers(b, id);
  if (t == nullptr) return "?";
  const char* name = btf__name_by_offset(b, t->name_off);
  switch (btf_kind(t)) {
    case BTF_KIND_STRUCT:
      return absl::StrCat("struct ", name);
    case BTF_KIND_UNION:
      return absl::StrCat("union ", name);
    case BTF_KIND_PTR:
      return absl::StrCat(t->type == 0 ? "void" : TypeName(b, t->type), " *");
    case BTF_KIND_ARRAY:
      return absl::StrCat(TypeName(b, btf_array(t)->type), "[",
                          btf_array(t)->nelems, "]");
    default:
      // Typedefs keep their names: local_lock_t is what the catalogue wants.
      return name;
  }
}

void CollectMembers(const btf* b, const btf_type* t, absl::string_view name,
                    KernelSymbols* out) {
  for (const auto& wanted : kMembers) {
    if (name != wanted.type) continue;
    const std::string key = absl::StrCat(wanted.type, ".", wanted.member);
    if (out->members.count(key) > 0) continue;
    const btf_member* m = btf_members(t);
    for (uint32_t i = 0; i < btf_vlen(t); ++i) {
      if (absl::string_view(btf__name_by_offset(b, m[i].name_off)) ==
          wanted.member) {
        out->members[key] = {btf_member_bit_offset(t, i) / 8,
                             TypeName(b, m[i].type)};
      }
    }
  }
}

// One pass over the types from `first` on: a kernel has some 150 thousand, so
// a search per name would take most of a second.
void Collect(const btf* b, uint32_t first, const std::string& module,
             KernelSymbols* out) {
  static const auto* const functions = new std::unordered_set<std::string>(
      std::begin(kFunctions), std::end(kFunctions));
  static const auto* const tracepoints = new std::unordered_set<std::string>(
      std::begin(kTracepoints), std::end(kTracepoints));
  for (uint32_t id = first; id < btf__type_cnt(b); ++id) {
    const btf_type* t = btf__type_by_id(b, id);
    const uint32_t kind = btf_kind(t);
    if (kind != BTF_KIND_FUNC && kind != BTF_KIND_STRUCT &&
        kind != BTF_KIND_TYPEDEF) {
      continue;
    }
    absl::string_view name = btf__name_by_offset(b, t->name_off);
    if (kind == BTF_KIND_STRUCT) {
      if (!name.empty()) CollectMembers(b, t, name, out);
    } else if (kind == BTF_KIND_TYPEDEF) {
      if (absl::ConsumePrefix(&name, "btf_trace_") &&
          tracepoints->count(std::string(name)) > 0) {
        out->tracepoints.insert(std::string(name));
      }
    } else if (functions->count(std::string(name)) > 0) {
      const btf_type* prototype = btf__type_by_id(b, t->type);
      out->functions.insert(
          {std::string(name),
           {module, id, static_cast<int>(btf_vlen(prototype))}});
    }
  }
}

absl::Status BadLine(int line, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "kernel symbols, line ", line, ": cannot read \"", text, "\""));
}

}  // namespace

const KernelMember* KernelSymbols::Member(absl::string_view name) const {
  const auto it = members.find(std::string(name));
  return it == members.end() ? nullptr : &it->second;
}

KernelSymbols ReadKernelSymbols() {
  KernelSymbols out;
  utsname name;
  if (uname(&name) == 0) out.release = name.release;
  const BtfPtr vmlinux(btf__load_vmlinux_btf());
  if (libbpf_get_error(vmlinux.get()) != 0 || vmlinux == nullptr) return out;
  out.has_btf = true;
  Collect(vmlinux.get(), 1, "", &out);
  const uint32_t base = btf__type_cnt(vmlinux.get());
  for (const char* module : kModules) {
    const BtfPtr b(btf__load_module_btf(module, vmlinux.get()));
    if (b == nullptr || libbpf_get_error(b.get()) != 0) continue;
    out.modules.insert(module);
    Collect(b.get(), base, module, &out);
  }
  return out;
}

std::vector<std::pair<uint64_t, uint64_t>> FunctionRanges(
    std::istream& kallsyms, const std::set<std::string>& names) {
  std::vector<std::pair<uint64_t, uint64_t>> out;
  uint64_t open = 0;  // a wanted function whose end is the next symbol
  // Line by line: the whole file is some 10 MB.
  for (std::string line; std::getline(kallsyms, line);) {
    // "ffffffff81000000 T name" and, for modules, "\t[module]".
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::MaxSplits(' ', 2));
    if (words.size() != 3) continue;
    uint64_t address = 0;
    if (!absl::SimpleHexAtoi(words[0], &address) || address == 0) continue;
    if (open != 0 && address > open) {
      out.emplace_back(open, address);
      open = 0;
    }
    if (words[1] != "t" && words[1] != "T") continue;
    if (names.count(std::string(words[2])) > 0) open = address;
  }
  return out;
}

std::string FormatKernelSymbols(const KernelSymbols& symbols) {
  std::string out = absl::StrCat("release ", symbols.release, "\n");
  if (symbols.has_btf) absl::StrAppend(&out, "btf\n");
  for (const std::string& name : symbols.modules) {
    absl::StrAppend(&out, "module ", name, "\n");
  }
  for (const std::string& name : symbols.tracepoints) {
    absl::StrAppend(&out, "tracepoint ", name, "\n");
  }
  for (const auto& [name, f] : symbols.functions) {
    absl::StrAppend(&out, "function ", name, " ", f.parameters, " ",
                    f.module.empty() ? "vmlinux" : f.module, "\n");
  }
  for (const auto& [name, m] : symbols.members) {
    absl::StrAppend(&out, "member ", name, " ", m.offset_bytes, " ", m.type,
                    "\n");
  }
  return out;
}

absl::StatusOr<KernelSymbols> ParseKernelSymbols(absl::string_view text) {
  KernelSymbols out;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripSuffix(line, "\r");
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::MaxSplits(' ', 3));
    if (words[0] == "btf" && words.size() == 1) {
      out.has_btf = true;
    } else if (words[0] == "release" && words.size() == 2) {
      out.release = words[1];
    } else if (words[0] == "module" && words.size() == 2) {
      out.modules.insert(words[1]);
    } else if (words[0] == "tracepoint" && words.size() == 2) {
      out.tracepoints.insert(words[1]);
    } else if (words[0] == "function" && words.size() == 4) {
      KernelFunction f;
      f.module = words[3] == "vmlinux" ? "" : words[3];
      if (!absl::SimpleAtoi(words[2], &f.parameters)) {
        return BadLine(number, line);
      }
      out.functions[words[1]] = f;
    } else if (words[0] == "member" && words.size() == 4) {
      KernelMember m;
      m.type = words[3];
      if (!absl::SimpleAtoi(words[2], &m.offset_bytes)) {
        return BadLine(number, line);
      }
      out.members[words[1]] = m;
    } else {
      return BadLine(number, line);
    }
  }
  return out;
}

}  // namespace swaplock
