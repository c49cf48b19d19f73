# What `swaplock-agent --help`, `swaplock-server --help` or `swaplock SUBCOMMAND
# --help` says of flags, one flag a line: NAME<tab>DEFAULT<tab>TEXT, with the
# dashes of the name. A text that has no default has an empty one.

function flush() {
  # --name (TEXT); default: DEFAULT;
  if (match(entry, /^--[a-z_0-9]+ \(/)) {
    name = substr(entry, 1, RLENGTH - 2)
    text = substr(entry, RLENGTH + 1)
    at = 0
    rest = text
    while ((i = index(rest, "); default: ")) > 0) {
      at += i
      rest = substr(rest, i + 1)
    }
    value = substr(text, at + length("); default: "))
    sub(/;$/, "", value)
    gsub(/^"|"$/, "", value)
    print name "\t" value "\t" substr(text, 1, at - 1)
  }
  entry = ""
}

/^    --[a-z]/ { flush(); entry = substr($0, 5); next }
/^      / && entry != "" { entry = entry " " substr($0, 7); next }
{ flush() }

# The command line program's:   --name  TEXT, with a default in brackets at its
# end that cannot be told from a text in brackets.
/^  --?[a-z][a-z_0-9]*  / {
  name = $1
  print name "\t\t" substr($0, index($0, name) + length(name) + 2)
}

END { flush() }
