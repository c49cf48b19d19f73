#include "agent/capture/plan.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace swaplock {

bool Attaches(const std::vector<Attachment>& attachments,
              absl::string_view program) {
  return std::any_of(attachments.begin(), attachments.end(),
                     [&](const Attachment& a) { return a.program == program; });
}

absl::string_view Name(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::kFentry:
      return "fentry";
    case ProbeKind::kFexit:
      return "fexit";
    case ProbeKind::kKprobe:
      return "kprobe";
    case ProbeKind::kKretprobe:
      return "kretprobe";
    case ProbeKind::kTracepoint:
      break;
  }
  return "tp_btf";
}

std::string Attachment::Probe() const {
  return absl::StrCat(Name(kind), "/", target);
}

bool Plan::Attaches(absl::string_view program) const {
  return swaplock::Attaches(attachments, program);
}

bool ServesZswap(const Attachment& attachment) {
  return absl::StartsWith(attachment.program, "zswap_");
}

Plan WithoutZswap(const Plan& plan) {
  Plan out = plan;
  if (!CountsHolds(plan.zswap_hold)) return out;  // no hooks of its own
  out.zswap_hold = Tier::kUnspecified;
  out.zswap_latency = Tier::kUnspecified;
  out.attachments.clear();
  for (const Attachment& a : plan.attachments) {
    if (!ServesZswap(a)) {
      out.attachments.push_back(a);
      continue;
    }
    for (Probe& probe : out.probes) {
      if (probe.name != a.Probe()) continue;
      probe.state = ProbeState::kNotNeeded;
      probe.reason = "zswap is off";
    }
  }
  out.not_measured.push_back(
      "zswap: it is off and holds no page; it is looked for again each "
      "second.");
  return out;
}

std::string FormatPlan(const Plan& plan) {
  std::string out = absl::StrCat(
      "zram stream: model ", Name(plan.zram_model), ", holds ",
      Name(plan.zram_hold), ", operations ", Name(plan.zram_latency),
      plan.SplitStreams() ? absl::StrCat("\nzram reads: models ",
                                         Name(plan.zram_exclusive_model), ", ",
                                         Name(plan.zram_shared_model))
                          : "",
      "\nzswap: model ", Name(plan.zswap_model),
      plan.zswap_lock_free_loads ? ", loads may be lock-free" : "", ", holds ",
      Name(plan.zswap_hold), ", operations ", Name(plan.zswap_latency),
      "\nzsmalloc: size class ", Name(plan.size_class_model), ", pool ",
      Name(plan.pool_model), "\nwaits: ", Name(plan.wait), "\n");
  for (const Attachment& a : plan.attachments) {
    absl::StrAppend(&out, "attach ", a.program, " ", a.Probe(), "\n");
  }
  for (const Probe& p : plan.probes) {
    if (p.state == ProbeState::kAttached) continue;
    absl::StrAppend(&out, Name(p.state), " ", p.name, ": ", p.reason, "\n");
  }
  for (const std::string& text : plan.not_measured) {
    absl::StrAppend(&out, "not measured: ", text, "\n");
  }
  return out;
}

}  // namespace swaplock
