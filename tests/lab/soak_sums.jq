# SPDX-License-Identifier: Apache-2.0
# Sums over the windows of a run, for soak and soak.jq.
def number: . // 0 | tonumber;
def sums: {
  acquisitions: ([.[].cells[]? | select(.key.subsystem == "SUBSYSTEM_ZRAM")
    | .acquisitions | number] | add // 0),
  timed: ([.[].cells[]? | select(.key.subsystem == "SUBSYSTEM_ZRAM")
    | .hold.count | number] | add // 0),
  # Runs that the kernel skipped of the programs that see a stream got and given.
  missed: ([.[].coverage.probes[]? | select(.name | test("zcomp_stream"))
    | .misses | number] | add // 0),
  losses: ([.[].losses[]?] | group_by(.reason)
    | map({key: (.[0].reason | sub("LOSS_REASON_"; "") | ascii_downcase),
           value: (map(.events | number) | add)}) | from_entries)};
