# Bazel's build events (--build_event_json_file) as one line per test:
# label, status, path of its log or "". Run with `jq -sr`.
# Status is Bazel's (PASSED, FLAKY, FAILED, TIMEOUT ...), or NOT_BUILT.
(map(select(.testSummary) | {
    key: .id.testSummary.label,
    value: [.testSummary.overallStatus,
            (.testSummary | (.failed // .passed // [])[0].uri // "")],
  }) | from_entries) as $tested
| (map(select(.id.targetCompleted and (.completed.success | not))
       | .id.targetCompleted.label) | unique) as $broken
| ($tested | to_entries[] | [.key] + .value),
  ($broken[] | select($tested[.] | not) | [., "NOT_BUILT", ""])
| map(sub("^file://"; "")) | @tsv
