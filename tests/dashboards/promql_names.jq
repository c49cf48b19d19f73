# The metric names in a PromQL expression: what is left of it after strings,
# selectors, ranges, label lists and numbers, and neither a function nor a word
# of the language. Enough for expressions that promtool has already parsed.
def metric_names:
  gsub("\"[^\"]*\""; "")
  | gsub("\\{[^}]*\\}"; "")
  | gsub("\\[[^\\]]*\\]"; "")
  | gsub("\\b(by|without|on|ignoring|group_left|group_right)\\s*\\([^)]*\\)"; "")
  | gsub("(?<![a-zA-Z0-9_:.])[0-9.]+(e[+-]?[0-9]+)?(ms|s|m|h|d)?(?![a-zA-Z0-9_:.])"; "")
  | [scan("[a-zA-Z_:][a-zA-Z0-9_:]*(?![a-zA-Z0-9_:]|\\s*\\()")]
  | map(select(IN("and", "or", "unless", "bool", "offset") | not))
  | unique;
