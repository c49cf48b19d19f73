# Bazel's build events (--build_event_json_file) as one line per test:
# label, status, whether the result is an old one, path of its log or "".
# Status is Bazel's (PASSED, FLAKY, FAILED, TIMEOUT ...), or NOT_BUILT.
# Run with `jq -sr`.
(map(select(.testSummary) | {
    key: .id.testSummary.label,
    value: [.testSummary.overallStatus,
            (if .testSummary.totalNumCached then "cached" else "run" end),
            (.testSummary | (.failed // .passed // [])[0].uri // "")],
  }) | from_entries) as $tested
| (map(select(.id.targetCompleted and (.completed.success | not))
       | .id.targetCompleted.label) | unique) as $broken
| ($tested | to_entries[] | [.key] + .value),
  ($broken[] | select($tested[.] | not) | [., "NOT_BUILT", "run", ""])
| map(sub("^file://"; "")) | @tsv
