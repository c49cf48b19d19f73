#include "agent/doctor/doctor_report.h"

#include <errno.h>
#include <google/protobuf/util/json_util.h>
#include <string.h>

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "common/plain_text.h"
#include "common/text_table.h"
#include "proto/doctor.pb.h"

namespace swaplock {
namespace {

using Align = TextTable::Align;

constexpr absl::string_view kIndent = "  ";

// "attached" is what a probe is while an agent runs; here it was tried.
std::string Verdict(ProbeState state) {
  return state == ProbeState::kAttached ? "works" : std::string(Name(state));
}

std::string OrUnknown(absl::string_view text) {
  return text.empty() ? "unknown" : std::string(text);
}

std::string OnOrOff(const std::optional<bool>& value) {
  return !value.has_value() ? "unknown" : *value ? "on" : "off";
}

std::string TierName(Tier tier) {
  return tier == Tier::kUnspecified ? "-" : std::string(Name(tier));
}

std::string ModelName(LockModel model) {
  return model == LockModel::kUnspecified ? "-" : std::string(Name(model));
}

std::string Btf(const DoctorReport& report) {
  if (!report.btf_vmlinux) return "none";
  const auto part = [](absl::string_view name, absl::string_view where) {
    return absl::StrCat(name, " ",
                        where == "vmlinux"  ? "in the kernel's"
                        : where == "module" ? "as a module's"
                                            : "none");
  };
  return absl::StrCat("the kernel's; ", part("zram", report.btf_zram), "; ",
                      part("zsmalloc", report.btf_zsmalloc));
}

std::string Lockdown(const HostFacts& host) {
  if (!host.lockdown.empty()) return host.lockdown;
  const MountFacts* securityfs = host.Mount("securityfs");
  return securityfs != nullptr && securityfs->InPlace()
             ? "unknown"
             : "unknown (securityfs is not mounted)";
}

std::string Devices(const HostFacts& host) {
  if (!host.zram_loaded) return "not loaded";
  std::vector<std::string> devices;
  for (const ZramDeviceFacts& d : host.zram_devices) {
    if (d.device.disksize_bytes == 0) {
      devices.push_back(absl::StrCat(d.device.name, " (not set up)"));
      continue;
    }
    devices.push_back(absl::StrCat(
        d.device.name, " (", d.device.disksize_bytes >> 20, " MiB, ",
        absl::StrJoin(d.device.algorithms, ","),
        d.read_error == 0
            ? ")"
            : absl::StrCat("; ", strerrordesc_np(d.read_error), ")")));
  }
  return devices.empty() ? "loaded, no device" : absl::StrJoin(devices, ", ");
}

std::string Zswap(const HostFacts& host) {
  if (!host.zswap_present) return "not in this kernel";
  return absl::StrCat(OnOrOff(host.zswap_enabled), ", ",
                      OrUnknown(host.zswap_compressor));
}

std::string Mounts(const HostFacts& host) {
  std::vector<std::string> mounts;
  for (const MountFacts& m : host.mounts) {
    mounts.push_back(absl::StrCat(m.type, m.path.empty()
                                              ? " not mounted"
                                              : absl::StrCat(" at ", m.path)));
  }
  return absl::StrJoin(mounts, ", ");
}

std::string MemoryLock(const HostFacts& host) {
  return absl::StrCat(host.memory_lock_bytes.has_value()
                          ? absl::StrCat(*host.memory_lock_bytes >> 10, " KiB")
                          : "unlimited",
                      " (BPF memory is not counted against it since 5.11)");
}

std::string Clock(const DoctorReport& report) {
  if (!report.clock.has_value()) return "not measured";
  return absl::StrFormat("%.1f ns by %s", report.clock->ns, report.clock->how);
}

std::string Needed(const Need& need) {
  return absl::StrCat(
      absl::StrJoin(need.capabilities, " + "),
      need.note.empty() ? "" : absl::StrCat(" (", need.note, ")"));
}

std::string Cost(const LockCost& cost) {
  if (!cost.ns_per_hold.has_value()) return cost.derivation;
  return absl::StrFormat("%s%.0f ns per hold: %s",
                         cost.at_least ? "at least " : "", *cost.ns_per_hold,
                         cost.derivation);
}

void Section(std::string* out, absl::string_view title,
             absl::string_view text) {
  if (!text.empty()) absl::StrAppend(out, "\n", title, "\n", text);
}

std::string LockTable(const DoctorReport& report) {
  TextTable table;
  for (const char* title :
       {"lock", "model", "holds", "waits", "operations", "measured"}) {
    table.AddColumn(title, Align::kLeft);
  }
  for (const LockReport& lock : report.locks) {
    table.AddRow({lock.name, ModelName(lock.model), TierName(lock.hold),
                  TierName(lock.wait), TierName(lock.latency), lock.measured});
  }
  return table.Empty() ? "" : table.Render(kIndent);
}

std::string ProblemList(const DoctorReport& report, bool costs_holds) {
  std::string out;
  for (const Problem& problem : report.problems) {
    if (problem.costs_holds != costs_holds) continue;
    absl::StrAppend(&out, kIndent, Printable(problem.what), "\n", kIndent,
                    "  -> ", Printable(problem.remedy), "\n");
  }
  return out;
}

// Names with commas between them, in lines of up to kWidth characters.
std::string NameLines(const std::vector<std::string>& names,
                      absl::string_view indent) {
  constexpr size_t kWidth = 100;
  std::string out;
  std::string line(indent);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name =
        absl::StrCat(Printable(names[i]), i + 1 < names.size() ? "," : "");
    if (line.size() > indent.size() && line.size() + 1 + name.size() > kWidth) {
      absl::StrAppend(&out, line, "\n");
      line = std::string(indent);
    }
    absl::StrAppend(&line, line.size() > indent.size() ? " " : "", name);
  }
  return absl::StrCat(out, line, "\n");
}

// By verdict and reason, those that work first.
std::string ProbeList(const DoctorReport& report) {
  struct Group {
    ProbeState state;
    std::string reason;
    std::vector<std::string> names;
  };
  std::vector<Group> groups;
  for (const Probe& probe : report.probes) {
    // "load fexit/zcomp_stream_get: EPERM" says the name once more.
    const std::string reason = absl::StrReplaceAll(
        probe.reason, {{absl::StrCat(" of ", probe.name), ""},
                       {absl::StrCat(" ", probe.name), ""}});
    const auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
          return g.state == probe.state && g.reason == reason;
        });
    if (group == groups.end()) {
      groups.push_back({probe.state, reason, {probe.name}});
    } else {
      group->names.push_back(probe.name);
    }
  }
  std::stable_sort(
      groups.begin(), groups.end(),
      [](const Group& a, const Group& b) { return a.state < b.state; });
  std::string out;
  for (const Group& group : groups) {
    absl::StrAppend(&out, kIndent, Verdict(group.state),
                    group.reason.empty() ? "" : ": ", Printable(group.reason),
                    "\n", NameLines(group.names, "    "));
  }
  return out;
}

std::string Lines(
    const std::vector<std::pair<std::string, std::string>>& rows) {
  TextTable table;
  table.AddColumn("", Align::kLeft);
  table.AddColumn("", Align::kLeft);
  for (const auto& [name, value] : rows) table.AddRow({name, value});
  // Without the line of the titles.
  const std::string text = table.Render(kIndent);
  return text.substr(text.find('\n') + 1);
}

std::string HostLines(const DoctorReport& report) {
  const HostFacts& host = report.host;
  return Lines({
      {"kernel", absl::StrCat(host.environment.kernel_release, " ",
                              host.environment.architecture, ", ",
                              host.environment.cpus, " CPUs")},
      {"preemption", OrUnknown(host.environment.preempt)},
      {"lockdown", Lockdown(host)},
      {"type information", Btf(report)},
      {"kprobes", host.kprobes ? "there" : "none"},
      {"bpf_stats", OnOrOff(host.bpf_stats)},
      {"zram", Devices(host)},
      {"zswap", Zswap(host)},
      {"pressure (PSI)", host.psi ? "on" : "off"},
      {"mounts", Mounts(host)},
      {"memory lock limit", MemoryLock(host)},
  });
}

std::string PrivilegeLines(const DoctorReport& report) {
  std::vector<std::string> held;
  std::vector<std::string> lacking;
  for (const auto& [name, effective] : report.capabilities) {
    (effective ? held : lacking).push_back(name);
  }
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? "none" : absl::StrJoin(names, " ");
  };
  return Lines(
      {{"user id",
        absl::StrCat(report.host.uid,
                     report.host.user_namespace ? " of a user namespace" : "")},
       {"effective", list(held)},
       {"not effective", list(lacking)}});
}

std::string NeedTable(const DoctorReport& report) {
  TextTable table;
  for (const char* title : {"for", "here", "least privilege"}) {
    table.AddColumn(title, Align::kLeft);
  }
  for (const Need& need : report.needs) {
    table.AddRow({need.what, need.held ? "yes" : "no", Needed(need)});
  }
  return table.Empty() ? "" : table.Render(kIndent);
}

std::string CostLines(const DoctorReport& report) {
  std::vector<std::pair<std::string, std::string>> rows = {
      {"a clock read", Clock(report)}};
  for (const LockCost& cost : report.costs) {
    rows.emplace_back(cost.lock, Cost(cost));
  }
  for (const auto& [program, cost] : report.programs) {
    rows.emplace_back(program,
                      absl::StrFormat("%.0f ns per run, %d runs here",
                                      static_cast<double>(cost.run_time_ns) /
                                          static_cast<double>(cost.runs),
                                      cost.runs));
  }
  return Lines(rows);
}

v1::DoctorReport::Verdict ToProto(DoctorVerdict verdict) {
  switch (verdict) {
    case DoctorVerdict::kHolds:
      return v1::DoctorReport::HOLDS;
    case DoctorVerdict::kPart:
      return v1::DoctorReport::PART;
    case DoctorVerdict::kNothing:
      break;
  }
  return v1::DoctorReport::NOTHING;
}

// proto3 strings are UTF-8; reasons and paths come from outside.
std::string Text(absl::string_view text) { return PlainText(text, 4096); }

void HostToProto(const DoctorReport& report, v1::DoctorReport::Host* out) {
  const HostFacts& host = report.host;
  out->set_kernel_release(Text(host.environment.kernel_release));
  out->set_kernel_version(Text(host.environment.kernel_version));
  out->set_architecture(Text(host.environment.architecture));
  out->set_cpus(host.environment.cpus);
  out->set_preempt(Text(host.environment.preempt));
  out->set_lockdown(Text(host.lockdown));
  out->set_btf_vmlinux(report.btf_vmlinux);
  out->set_btf_zram(report.btf_zram);
  out->set_btf_zsmalloc(report.btf_zsmalloc);
  out->set_kprobes(host.kprobes);
  if (host.bpf_stats.has_value()) out->set_bpf_stats(*host.bpf_stats);
  out->set_kernel_addresses(host.kernel_addresses);
  out->set_psi(host.psi);
  if (host.memory_lock_bytes.has_value()) {
    out->set_memory_lock_bytes(*host.memory_lock_bytes);
  }
  for (const MountFacts& mount : host.mounts) {
    v1::DoctorReport::Mount* m = out->add_mounts();
    m->set_type(Text(mount.type));
    m->set_path(Text(mount.path));
    m->set_expected(Text(mount.expected));
  }
  out->set_zram_loaded(host.zram_loaded);
  for (const ZramDeviceFacts& facts : host.zram_devices) {
    v1::DoctorReport::ZramDevice* d = out->add_zram_devices();
    d->set_name(Text(facts.device.name));
    d->set_disksize_bytes(facts.device.disksize_bytes);
    d->set_algorithms(Text(absl::StrJoin(facts.device.algorithms, ",")));
    if (facts.read_error != 0) {
      d->set_unreadable(strerrordesc_np(facts.read_error));
    }
  }
  out->set_zswap_present(host.zswap_present);
  if (host.zswap_enabled.has_value()) {
    out->set_zswap_enabled(*host.zswap_enabled);
  }
  out->set_zswap_compressor(Text(host.zswap_compressor));
  for (const auto& [name, value] : host.config) {
    v1::DoctorReport::Setting* setting = out->add_kernel_config();
    setting->set_name(Text(name));
    setting->set_value(Text(value));
  }
}

void CostToProto(const DoctorReport& report, v1::DoctorReport::Cost* out) {
  if (report.clock.has_value()) {
    out->set_clock_read_ns(report.clock->ns);
    out->set_clock(report.clock->how);
  }
  for (const auto& [program, cost] : report.programs) {
    v1::DoctorReport::ProgramCost* p = out->add_programs();
    p->set_program(program);
    p->set_runs(cost.runs);
    p->set_mean_ns(static_cast<double>(cost.run_time_ns) /
                   static_cast<double>(cost.runs));
  }
  for (const LockCost& cost : report.costs) {
    v1::DoctorReport::LockCost* l = out->add_locks();
    l->set_lock(cost.lock);
    if (cost.ns_per_hold.has_value()) l->set_ns_per_hold(*cost.ns_per_hold);
    l->set_at_least(cost.at_least);
    l->set_derivation(cost.derivation);
  }
}

v1::DoctorReport ToProto(const DoctorReport& report) {
  v1::DoctorReport out;
  out.set_verdict(ToProto(report.verdict));
  out.set_exit_status(static_cast<uint32_t>(report.ExitStatus()));
  out.set_summary(Text(report.summary));
  for (const LockReport& lock : report.locks) {
    v1::DoctorReport::Lock* l = out.add_locks();
    l->set_name(lock.name);
    l->set_lock_model(static_cast<v1::LockModel>(lock.model));
    l->set_hold_tier(static_cast<v1::Tier>(lock.hold));
    l->set_wait_tier(static_cast<v1::Tier>(lock.wait));
    l->set_latency_tier(static_cast<v1::Tier>(lock.latency));
    l->set_measured(lock.measured);
    l->set_complete(lock.complete);
  }
  for (const Problem& problem : report.problems) {
    v1::DoctorReport::Problem* p = out.add_problems();
    p->set_what(Text(problem.what));
    p->set_remedy(Text(problem.remedy));
    p->set_costs_holds(problem.costs_holds);
  }
  for (const std::string& text : report.not_measured) {
    out.add_not_measured(Text(text));
  }
  for (const Probe& probe : report.probes) {
    v1::DoctorReport::Probe* p = out.add_probes();
    p->set_name(Text(probe.name));
    p->set_state(static_cast<v1::ProbeState>(probe.state));
    p->set_reason(Text(probe.reason));
  }
  HostToProto(report, out.mutable_host());
  out.set_uid(report.host.uid);
  out.set_user_namespace(report.host.user_namespace);
  for (const auto& [name, effective] : report.capabilities) {
    v1::DoctorReport::Capability* c = out.add_capabilities();
    c->set_name(name);
    c->set_effective(effective);
  }
  for (const Need& need : report.needs) {
    v1::DoctorReport::Need* n = out.add_needs();
    n->set_what(need.what);
    for (const std::string& name : need.capabilities) n->add_capabilities(name);
    n->set_held(need.held);
    n->set_note(need.note);
  }
  CostToProto(report, out.mutable_cost());
  return out;
}

}  // namespace

std::string DoctorText(const DoctorReport& report) {
  std::string out = absl::StrCat(Printable(report.summary), "\n");
  Section(&out, "locks", LockTable(report));
  Section(&out, "what to do", ProblemList(report, true));
  Section(&out, "what to do about details", ProblemList(report, false));
  std::string not_measured;
  for (const std::string& text : report.not_measured) {
    absl::StrAppend(&not_measured, kIndent, Printable(text), "\n");
  }
  Section(&out, "not measured", not_measured);
  Section(&out, "probes", ProbeList(report));
  Section(&out, "host", HostLines(report));
  Section(&out, "this process", PrivilegeLines(report));
  Section(&out, "what it needs", NeedTable(report));
  Section(&out, "cost", CostLines(report));
  return out;
}

absl::StatusOr<std::string> DoctorJson(const DoctorReport& report) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(
      ToProto(report), &json, options);
  if (!status.ok()) return absl::InternalError("write JSON");
  return json;
}

}  // namespace swaplock
