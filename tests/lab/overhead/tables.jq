# The tables of docs/BENCHMARKS.md from results.jq's numbers.
def text: {
  "nothing": "nothing",
  "hooks-2": "two empty programs: stream get and put",
  "hooks-zram": "empty programs on all of zram that the agent hooks",
  "hooks-all": "and on zsmalloc's, which the agent hooks while zswap is on",
  "clocks": "two programs that read the clock",
  "switch-hook": "an empty program at context switches",
  "agent": "swaplock-agent",
  "agent-zswap": "swaplock-agent, zswap being on too",
  "agent-kprobes": "swaplock-agent --without=fentry",
  "agent-tracepoints": "swaplock-agent --without=fentry,kprobe",
  "agent-counting": "swaplock-agent when its CPU budget is used up",
  "klockstat": "klockstat (libbpf-tools)"}[.] // .;
def fixed($digits): . as $x | pow(10; $digits) as $p
  | ($x * $p | round) as $n | ($n | fabs) as $a
  | (if $n < 0 then "-" else "" end) + ($a / $p | floor | tostring)
    + if $digits == 0 then ""
      else "." + ("000000" + ($a % $p | tostring) | .[-$digits:]) end;
def mib: . / 1048576 | fixed(1) + " MiB";
def row: "| " + join(" | ") + " |";

"Kernel \(.kernel), 1 CPU, \(.ios) I/Os of 4 KiB, median of \(.rounds) rounds.",
"",
(["attached", "instructions per I/O", "added", "between rounds", "throughput", "holds counted per I/O", "added per context switch"] | row),
"|---|--:|--:|--:|--:|--:|--:|",
(.rows[] | [(.what | text), (.per_io | fixed(0)), (.added_per_io | fixed(0)),
  (.spread | fixed(1)),
  (if .what == "nothing" then "" else (.throughput * 100 | fixed(2)) + " %" end),
  (if .holds_per_io == 0 then "" else (.holds_per_io | fixed(3)) end),
  (.added_per_switch | fixed(0))] | row),
"",
(["the agent itself", "holds/s", "instructions per window, millions", "most", "share of a CPU at 10^9/s", "resident", "maps"] | row),
"|---|--:|--:|--:|--:|--:|--:|",
((["at rest", .at_rest], ["under load", .under_load]) | .[0] as $when | .[1]
  | select(.windows > 0)
  | [$when + ", \(.windows) windows of \(.seconds | fixed(0)) s",
     (.holds_per_s | fixed(0)), (.cpu_ms | fixed(1)),
     (.longest_cpu_ms | fixed(1)),
     (.share_of_a_cpu * 100 | fixed(3)) + " %",
     (.rss_bytes | mib), (.map_bytes | mib)] | row)
