# Prints each rule of a Prometheus rule file as key=value fields, each ended by
# \1. A value that continues on deeper lines is joined by spaces.
function flush_rule() {
  if (rule != "") print rule
  rule = ""
}
/^ *#/ || /^ *$/ { next }
{
  match($0, /^ */)
  indent = RLENGTH
  text = substr($0, indent + 1)
  if (key != "" && indent > key_indent) {
    rule = substr(rule, 1, length(rule) - 1) " " text "\1"
    next
  }
  key = ""
  is_item = 0
  if (text ~ /^- (record|alert): /) {
    flush_rule()
    is_item = 1
    text = substr(text, 3)
    indent += 2
  }
  if (match(text, /^[a-z_]+: */) == 0) next
  name = substr(text, 1, index(text, ":") - 1)
  value = substr(text, RLENGTH + 1)
  if (name !~ /^(record|alert|expr|for|keep_firing_for|severity|summary|description|runbook_url)$/) next
  if (rule == "" && !is_item) next
  if (value ~ /^[|>]-?$/) value = ""
  rule = rule name "=" value "\1"
  key = name
  key_indent = indent
}
END { flush_rule() }
