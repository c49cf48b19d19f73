// The names of all metrics that the server exports, with their help texts.
// docs/METRICS.md lists the same.
//
// Families of cells carry the labels kernel, preempt, subsystem, op, role,
// mode, algorithm, tier and wait_tier (how holds and waits were measured). A
// number that a tier cannot measure is absent, never zero.
#ifndef SWAPLOCK_SERVER_METRICS_METRIC_NAMES_H_
#define SWAPLOCK_SERVER_METRICS_METRIC_NAMES_H_

namespace swaplock {

struct MetricName {
  const char* name;
  const char* help;
};

namespace metric {

// Cells: holds. Only of tiers that see every hold (exact, bracket).
inline constexpr MetricName kAcquisitions = {"swaplock_acquisitions_total",
                                             "Times a lock was taken."};
inline constexpr MetricName kHold = {"swaplock_hold_seconds",
                                     "How long locks were held."};
inline constexpr MetricName kHoldRunnable = {
    "swaplock_hold_runnable_seconds",
    "Part of a hold in which its holder was runnable but not on a CPU; only "
    "holds that had such a part."};
inline constexpr MetricName kHoldOnCpu = {
    "swaplock_hold_on_cpu_seconds_total",
    "Hold time in which the holder was on a CPU."};
inline constexpr MetricName kHoldBlocked = {
    "swaplock_hold_blocked_seconds_total",
    "Hold time in which the holder slept."};
inline constexpr MetricName kHoldUnknown = {
    "swaplock_hold_unknown_seconds_total",
    "Hold time that no probe could attribute."};
// Of the runnable part, where the holder's switches were seen.
inline constexpr MetricName kHoldPreempted = {
    "swaplock_hold_preempted_seconds_total",
    "Hold time in which the holder, preempted while it ran, waited for a CPU."};
inline constexpr MetricName kHoldWoken = {
    "swaplock_hold_woken_seconds_total",
    "Hold time in which the holder, woken from a sleep, waited for a CPU."};
inline constexpr MetricName kHoldThrottled = {
    "swaplock_hold_throttled_seconds_total",
    "Part of swaplock_hold_preempted_seconds_total in which cpu.max kept the "
    "holder off the CPU."};
inline constexpr MetricName kHolderMigrations = {
    "swaplock_holder_migrations_total",
    "Times a holder moved to another CPU while it held a lock."};
inline constexpr MetricName kLongestHold = {
    "swaplock_longest_hold_seconds",
    "Longest hold that ended within the last 24 hours, in steps of an hour."};
inline constexpr MetricName kLongestHoldRunnable = {
    "swaplock_longest_hold_runnable_seconds",
    "Runnable part of the hold in swaplock_longest_hold_seconds."};
inline constexpr MetricName kTopHold = {
    "swaplock_top_hold_seconds",
    "The five longest holds that ended within the last 24 hours; the server's "
    "page /hold?id= takes the label hold."};

// Cells: the owner probe, which sees intervals instead of holds.
inline constexpr MetricName kOwnerOffCpu = {
    "swaplock_owner_off_cpu_interval_seconds",
    "Intervals in which a lock's owner was off its CPU, by its state; of hosts "
    "that cannot see where holds begin and end."};

// Cells: waits.
inline constexpr MetricName kContended = {"swaplock_contended_total",
                                          "Acquisitions that had to wait."};
inline constexpr MetricName kWait = {"swaplock_wait_seconds",
                                     "How long contended acquisitions waited."};
inline constexpr MetricName kWaitsOwner = {
    "swaplock_waits_owner_total",
    "Waits by what the lock's owner did when the wait began."};
inline constexpr MetricName kWaitOwnerRunnable = {
    "swaplock_wait_owner_runnable_seconds_total",
    "Wait time that passed while the owner was runnable but not on a CPU."};
inline constexpr MetricName kInversions = {
    "swaplock_inversions_total",
    "Waits for an owner of lower priority than the waiter's."};
inline constexpr MetricName kLongestWait = {
    "swaplock_longest_wait_seconds",
    "Longest wait that ended within the last 24 hours, in steps of an hour."};

// Cells: operations, in cells of their own: one may take several locks, or
// none. Labels: kernel, preempt, subsystem, op, algorithm, lock_model, tier.
inline constexpr MetricName kOperation = {
    "swaplock_operation_seconds",
    "How long whole operations took, from entry to exit, waits and holds "
    "included."};

inline constexpr MetricName kCellInfo = {
    "swaplock_cell_info",
    "1 for each kind of lock and tiers that the cells of these labels have."};

// Verdicts. Labels: kernel_base, kernel_new, subsystem, op, outcome.
inline constexpr MetricName kVerdict = {
    "swaplock_verdict", "1 for the current verdict on a kernel pair."};
inline constexpr MetricName kVerdictState = {
    "swaplock_verdict_state",
    "1 for what was said of the verdict: new, acknowledged, suppressed, or "
    "went_away."};
inline constexpr MetricName kVerdictAlerts = {
    "swaplock_verdict_alerts",
    "1 when the verdict is to wake somebody: worse, unmarked, still there, and "
    "of an outcome that the self-test trusts."};
inline constexpr MetricName kVerdictRatio = {
    "swaplock_verdict_ratio",
    "Ratio of the typical host's rates, new kernel over base."};
inline constexpr MetricName kVerdictRatioLower = {
    "swaplock_verdict_ratio_lower", "Lower end of the ratio's 90 % interval."};
inline constexpr MetricName kVerdictRatioUpper = {
    "swaplock_verdict_ratio_upper", "Upper end of the ratio's 90 % interval."};
inline constexpr MetricName kVerdictPValue = {
    "swaplock_verdict_p_value",
    "p of the fixed look, adjusted over the family of the kernel pair; never "
    "0."};
inline constexpr MetricName kVerdictEValue = {
    "swaplock_verdict_evalue",
    "Evidence of the test that is valid at every look, by direction; 1 is "
    "none."};
inline constexpr MetricName kVerdictPairs = {
    "swaplock_verdict_pairs", "Matched pairs of hosts in that test."};
inline constexpr MetricName kVerdictHosts = {
    "swaplock_verdict_hosts", "Hosts that the verdict rests on, by arm."};
inline constexpr MetricName kVerdictDetectable = {
    "swaplock_verdict_detectable_ratio",
    "Ratio that these hosts would show 4 times in 5."};
inline constexpr MetricName kRolloutHosts = {
    "swaplock_rollout_hosts",
    "Hosts of a kernel pair: upgraded, of them still watched (waiting), and "
    "not "
    "upgraded."};
inline constexpr MetricName kIncident = {
    "swaplock_incident_opened_timestamp_seconds",
    "When the open incident of a kernel pair began, since 1970."};

// The self-test: the engine on hosts that kept their kernel.
inline constexpr MetricName kSelfTestFalseAlarms = {
    "swaplock_selftest_false_positive_ratio",
    "Share of splits of unchanged hosts in which the test at 5 % found a "
    "difference."};
inline constexpr MetricName kSelfTestFalseAlarmsLower = {
    "swaplock_selftest_false_positive_ratio_lower",
    "Lower end of its 95 % interval."};
inline constexpr MetricName kSelfTestFalseAlarmsUpper = {
    "swaplock_selftest_false_positive_ratio_upper",
    "Upper end of its 95 % interval."};
inline constexpr MetricName kSelfTestSplits = {
    "swaplock_selftest_splits", "Splits that the outcome was tested in."};
inline constexpr MetricName kSelfTestTrusted = {
    "swaplock_selftest_trusted",
    "0 where false alarms are above twice nominal: the outcome does not "
    "alert."};
inline constexpr MetricName kSelfTestPower = {
    "swaplock_selftest_power_ratio",
    "Share of splits in which events multiplied by ratio were found."};
inline constexpr MetricName kSelfTestTime = {
    "swaplock_selftest_timestamp_seconds",
    "When the self-test was made, since 1970."};
inline constexpr MetricName kVerdictsTime = {
    "swaplock_verdicts_judged_timestamp_seconds",
    "When a kernel pair was last judged, since 1970."};

// Hosts and their agents.
inline constexpr MetricName kHosts = {
    "swaplock_hosts",
    "Hosts with an open stream, with several at once, ever seen, and set aside "
    "because their windows were refused."};
inline constexpr MetricName kProbeAttachedHosts = {
    "swaplock_probe_attached_hosts",
    "Hosts on which a probe is attached; 0 where it was refused on all."};
inline constexpr MetricName kEventsLost = {
    "swaplock_events_lost_total", "Events that agents could not count."};
inline constexpr MetricName kAgentCpu = {"swaplock_agent_cpu_seconds_total",
                                         "CPU time that agents used."};

// The pipeline.
inline constexpr MetricName kWindows = {
    "swaplock_windows_total",
    "Windows received, by what became of them; rejected ones since start."};
inline constexpr MetricName kWindowsRejected = {
    "swaplock_windows_rejected_total",
    "Windows not taken, by reason; after busy and storage they come again."};
inline constexpr MetricName kStreamsRefused = {
    "swaplock_streams_refused_total",
    "Streams that were ended because of what the peer is or sent, by reason."};
inline constexpr MetricName kConnections = {
    "swaplock_connections", "Connections that are open on the gRPC port."};
inline constexpr MetricName kConnectionsRefused = {
    "swaplock_connections_refused_total",
    "Connections that were closed at once, because there are too many."};
inline constexpr MetricName kConnectionsDelayed = {
    "swaplock_connections_delayed_total",
    "Times when the next connection had to wait for the rate of handshakes."};
inline constexpr MetricName kOverflow = {
    "swaplock_overflow_total",
    "What was counted under the name other (kernels: windows, algorithms: "
    "cells) or not at all (cells), because there are too many names."};
inline constexpr MetricName kWindowsMissing = {
    "swaplock_windows_missing_total",
    "Windows whose sequence numbers were skipped."};
inline constexpr MetricName kWindowsInDoubt = {
    "swaplock_windows_in_doubt_total",
    "Windows merged that another server may have counted too, since start."};
inline constexpr MetricName kHardwareAcquisitions = {
    "swaplock_hardware_acquisitions_total",
    "Times a lock was taken, by kind of CPU, since start."};
inline constexpr MetricName kHardwareContended = {
    "swaplock_hardware_contended_total",
    "Times a lock was taken after waiting for it, by kind of CPU, since "
    "start."};
inline constexpr MetricName kHardwareWaits = {
    "swaplock_hardware_long_waits_total",
    "Waits longer than 10 ms, by kind of CPU, since start."};
inline constexpr MetricName kHardwareHold = {
    "swaplock_hardware_hold_seconds_total",
    "Time that locks were held, by kind of CPU, since start."};
inline constexpr MetricName kHardwareRunnable = {
    "swaplock_hardware_hold_runnable_seconds_total",
    "Part of it in which holders were runnable and not running."};
inline constexpr MetricName kAgentDeliveryEvents = {
    "swaplock_agent_delivery_events_total",
    "What agents met on the way to the server, since its start."};
inline constexpr MetricName kAgentSpoolWindows = {
    "swaplock_agent_spool_windows",
    "Windows that wait on hosts, as each host said last."};
inline constexpr MetricName kAgentSpoolBytes = {
    "swaplock_agent_spool_bytes",
    "Bytes of the windows that wait on hosts, as each host said last."};
inline constexpr MetricName kOtlpExports = {
    "swaplock_otlp_exports_total",
    "Times that all metrics were sent to --otlp_endpoint, since start."};
inline constexpr MetricName kIngestLag = {
    "swaplock_ingest_lag_seconds",
    "From the end of the last window, by its host's clock, to its commit."};
inline constexpr MetricName kCommit = {
    "swaplock_commit_seconds", "Time that committing batches of windows took."};
inline constexpr MetricName kBuildInfo = {"swaplock_build_info",
                                          "1, with the server's version."};
inline constexpr MetricName kReplay = {
    "swaplock_replay",
    "1 if the hosts do not exist: a demonstration with recorded windows."};

}  // namespace metric
}  // namespace swaplock

#endif  // SWAPLOCK_SERVER_METRICS_METRIC_NAMES_H_
