# What is wrong with a Grafana dashboard: one sentence each, none if all is well.
# The rules are those of Grafana's mixins and its dashboard linter.
#
# $counters: names of series that only grow, as in docs/METRICS.md.
include "promql_names";

def panels: [.panels[] | (., (.panels // [])[])];
def targets: .targets // [];

def dashboard_rules:
  (if .id != null then "id is not null" else empty end),
  (if (.uid // "") | test("^[a-z0-9-]{4,40}$") | not
   then "uid is not a stable word" else empty end),
  (if .editable != false then "editable is not false" else empty end),
  (if (.title // "") == "" then "it has no title" else empty end),
  (if (.refresh // "") == "" then "it is never refreshed" else empty end),
  (if (.schemaVersion // 0) < 36 then "schemaVersion is below 36" else empty end);

def variable_rules:
  [.templating.list[]] as $all
  | (if any($all[]; .name == "datasource" and .type == "datasource"
                    and .query == "prometheus") | not
     then "there is no variable \"datasource\" for Prometheus" else empty end),
    (("job", "instance") as $name
     | [$all[] | select(.name == $name)]
     | if length == 0 then "there is no variable \"\($name)\""
       elif .[0].allValue != ".+" or .[0].includeAll != true
            or .[0].multi != true
       then "variable \"\($name)\" does not take several and all (.+)"
       else empty end),
    ($all[] | select(.type == "query")
     | (if .datasource.uid != "${datasource}"
        then "variable \"\(.name)\" does not use ${datasource}" else empty end),
       (if .refresh != 2
        then "variable \"\(.name)\" does not follow the time range"
        else empty end),
       (if (.label // "") == "" then "variable \"\(.name)\" has no label"
        else empty end));

def target_rules($panel):
  . as $target
  | "panel \"\($panel)\" target \(.refId): " as $where
  | (.expr // "") as $expr
  | (if $expr == "" then $where + "is empty" else empty end),
    (if .datasource.uid != "${datasource}"
     then $where + "does not use ${datasource}" else empty end),
    (if $expr | test("__name__") then $where + "selects by __name__"
     else empty end),
    # Every metric has a selector with both variables.
    ($expr | metric_names[] as $name
     | [scan("(?<![a-zA-Z0-9_:])" + $name + "(?![a-zA-Z0-9_:])(\\{(?:\"[^\"]*\"|[^}\"])*\\})?")]
     | .[][0] as $selector
     | ("job=~\"$job\"", "instance=~\"$instance\"") as $matcher
     | if $selector == null or ($selector | contains($matcher) | not)
       then $where + $name + " is not selected by " + $matcher
       else empty end),
    # Counters only inside rate() or increase().
    ($expr | metric_names[] | select(IN($counters[])) as $name
     | ($expr | [scan("(?<![a-zA-Z0-9_:])" + $name + "(?![a-zA-Z0-9_:])")]
              | length) as $uses
     | ($expr | [scan("(?:rate|increase)\\(" + $name
                      + "\\{(?:\"[^\"]*\"|[^}\"])*\\}\\[[^\\]]*\\]\\)")] | length) as $rates
     | if $uses != $rates
       then $where + $name + " is a counter outside rate() or increase()"
       else empty end),
    ($expr | scan("\\[[^\\]]*\\]") | select(. != "[$__rate_interval]")
     | $where + "has the range \(.), not $__rate_interval"),
    (if ($expr | test("\\birate\\(")) then $where + "uses irate()"
     else empty end);

def panel_rules:
  .title as $title
  | "panel \"\($title)\" " as $where
  | (if ($title // "") == "" then "panel \(.id) has no title" else empty end),
    (if (.description // "") == "" then $where + "has no description"
     else empty end),
    (if (.fieldConfig.defaults.unit // "") == "" then $where + "has no unit"
     else empty end),
    (if .datasource.uid != "${datasource}"
     then $where + "does not use ${datasource}" else empty end),
    (if targets == [] then $where + "has no target" else empty end),
    (if (targets | map(.refId) | unique | length) != (targets | length)
     then $where + "has a refId twice" else empty end),
    (targets[] | target_rules($title));

def layout_rules:
  (panels | map(.id) | group_by(.)[] | select(length > 1)
   | "panels share the id \(.[0])"),
  (panels | map(.title) | group_by(.)[] | select(length > 1)
   | "panels share the title \"\(.[0])\""),
  (panels[] | select(.gridPos.x + .gridPos.w > 24)
   | "panel \"\(.title)\" is wider than the grid"),
  ([panels[] | {title, g: .gridPos}] as $p
   | range(0; $p | length) as $i | range($i + 1; $p | length) as $j
   | [$p[$i], $p[$j]]
   | select(.[0].g.x < .[1].g.x + .[1].g.w and .[1].g.x < .[0].g.x + .[0].g.w
            and .[0].g.y < .[1].g.y + .[1].g.h
            and .[1].g.y < .[0].g.y + .[0].g.h)
   | "panels \"\(.[0].title)\" and \"\(.[1].title)\" overlap");

def annotation_rules:
  .annotations.list[] | "annotation \"\(.name)\" " as $where
  | (if .datasource.uid != "${datasource}"
     then $where + "does not use ${datasource}" else empty end),
    (if (.expr // "") == "" then $where + "has no expression" else empty end);

def lint:
  dashboard_rules,
  annotation_rules,
  variable_rules,
  (panels[] | select(.type != "row") | panel_rules),
  layout_rules;
