# From all runs of guest_overhead.sh, the numbers of the tables: medians over the
# rounds. A run's clock counts instructions, so ns are instructions.
def median: sort | .[length / 2 | floor];

# Instructions of an I/O's system call. What fio does besides is the same always,
# and its clock of milliseconds too coarse.
def per_call: .call_ns / .ios;

def window: {
  seconds: (((.end_boottime_ns | tonumber) - (.start_boottime_ns | tonumber)) / 1e9),
  cpu_ms: ((.overhead.agent_cpu_ns // 0 | tonumber) / 1e6),
  rss_bytes: (.overhead.rss_bytes // 0 | tonumber),
  map_bytes: (.overhead.map_bytes // 0 | tonumber),
  holds: ([.cells[]? | .acquisitions // 0 | tonumber] | add // 0)};
def summary: {
  windows: length,
  seconds: (map(.seconds) | median),
  holds_per_s: (map(.holds / .seconds) | median),
  cpu_ms: (map(.cpu_ms) | median),
  longest_cpu_ms: (map(.cpu_ms) | max),
  share_of_a_cpu: (map(.cpu_ms / .seconds / 1e3) | median),
  rss_bytes: (map(.rss_bytes) | max),
  map_bytes: (map(.map_bytes) | max)};

. as $runs
| ($runs | map(select(.what == "nothing"))) as $none
| ($none | map(.runtime_ms * 1e6 / .ios) | median) as $none_per_io
| ($none | map(per_call) | median) as $none_per_call
| ($none | map(.switch_ns) | median) as $none_switch
| {
  kernel: $kernel,
  ios: ($runs[0].ios),
  rounds: ($runs | map(.round) | max),
  rows: ([$runs[].what] | unique_by(. as $w | [$runs[].what] | index($w))
    | map(. as $what | ($runs | map(select(.what == $what)))
      | ((map(per_call) | median) - $none_per_call) as $added | {
        what: $what,
        per_io: ($none_per_io + $added),
        added_per_io: $added,
        spread: (map(per_call) | max - min),
        throughput: ($none_per_io / ($none_per_io + $added) - 1),
        holds_per_io: (map(.holds / .ios) | median),
        added_per_switch: ((map(.switch_ns) | median) - $none_switch),
        own_ms: (map(.own_ns / 1e6) | median)})),
  per_switch: $none_switch,
  # The last window is cut short by the end of the run. Under load are those in
  # which fio ran nearly all the time.
  at_rest: ($rest | map(window) | .[:-1] | summary),
  under_load: ($load | map(window) | (map(.holds / .seconds) | max) as $most
    | map(select(.holds / .seconds > 0.8 * $most)) | summary)}
