// Panels as all dashboards have them: a title, a description, a unit, and
// expressions with their legends.
import type * as cog from '@grafana/grafana-foundation-sdk/cog';
import {
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  ScaleDistribution,
  ScaleDistributionConfigBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
  ReduceDataOptionsBuilder,
  TableSortByFieldStateBuilder,
  BigValueColorMode,
  BigValueGraphMode,
} from '@grafana/grafana-foundation-sdk/common';
import {
  type DataSourceRef,
  FieldColorBuilder,
  FieldColorModeId,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import {
  DataqueryBuilder,
  PromQueryFormat,
  QueryEditorMode,
} from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

export const DATASOURCE: DataSourceRef = {
  type: 'prometheus',
  uid: '${datasource}',
};

// Expression and legend, or for tables the title of its column.
export type Target = [expr: string, legend?: string];

export interface Panel {
  title: string;
  description: string;
  unit: string; // Grafana's name of it: s, percentunit, cps ...
  targets: Target[];
  width?: number; // of 24
  height?: number;
}

const refId = (index: number) => String.fromCharCode('A'.charCodeAt(0) + index);

function query(expr: string, legend: string, index: number) {
  return new DataqueryBuilder()
    .datasource(DATASOURCE)
    .editorMode(QueryEditorMode.Code)
    .refId(refId(index))
    .expr(expr)
    .legendFormat(legend);
}

const steps = (list: [from: number | null, color: string][]) =>
  new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps(list.map(([value, color]) => ({ value, color })));

// One number, now.
export function number(
  panel: Panel & { decimals?: number; thresholds?: [number | null, string][] },
): cog.Builder<any> {
  const builder = new stat.PanelBuilder()
    .title(panel.title)
    .description(panel.description)
    .datasource(DATASOURCE)
    .unit(panel.unit)
    .noValue('not measured')
    .height(panel.height ?? 4)
    .span(panel.width ?? 4)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .thresholds(steps(panel.thresholds ?? [[null, 'text']]))
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(
      new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false),
    );
  if (panel.decimals !== undefined) builder.decimals(panel.decimals);
  panel.targets.forEach(([expr, legend], i) =>
    builder.withTarget(query(expr, legend ?? '', i).instant()),
  );
  return builder;
}

// Lines over time; gaps where nothing was measured.
export function lines(
  panel: Panel & { stacked?: boolean; log?: boolean; from0?: boolean },
): cog.Builder<any> {
  const builder = new timeseries.PanelBuilder()
    .title(panel.title)
    .description(panel.description)
    .datasource(DATASOURCE)
    .unit(panel.unit)
    .height(panel.height ?? 8)
    .span(panel.width ?? 12)
    .drawStyle(GraphDrawStyle.Line)
    .lineWidth(1)
    .fillOpacity(panel.stacked ? 30 : 0)
    .showPoints(VisibilityMode.Auto)
    .spanNulls(false)
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.PaletteClassic))
    .stacking(
      new StackingConfigBuilder()
        .group('A')
        .mode(panel.stacked ? StackingMode.Normal : StackingMode.None),
    )
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        .calcs(['lastNotNull', 'max']),
    )
    .tooltip(
      new VizTooltipOptionsBuilder()
        .mode(TooltipDisplayMode.Multi)
        .sort(SortOrder.Descending),
    );
  if (panel.log) {
    builder.scaleDistribution(
      new ScaleDistributionConfigBuilder().type(ScaleDistribution.Log).log(10),
    );
  } else {
    builder.min(0);
  }
  panel.targets.forEach(([expr, legend], i) =>
    builder.withTarget(query(expr, legend ?? '', i).range()),
  );
  return builder;
}

// How a histogram's buckets fill over time.
export function heat(panel: Panel): cog.Builder<any> {
  const builder = new heatmap.PanelBuilder()
    .title(panel.title)
    .description(panel.description)
    .datasource(DATASOURCE)
    .unit(panel.unit)
    .height(panel.height ?? 9)
    .span(panel.width ?? 12)
    .calculate(false)
    .color(
      new heatmap.HeatmapColorOptionsBuilder()
        .mode(heatmap.HeatmapColorMode.Scheme)
        .scheme('Oranges')
        .scale(heatmap.HeatmapColorScale.Exponential)
        .exponent(0.4)
        .steps(64)
        .reverse(false),
    )
    .yAxis(new heatmap.YAxisConfigBuilder().unit(panel.unit))
    .cellGap(1)
    .showLegend()
    .tooltip(
      new heatmap.HeatmapTooltipBuilder()
        .mode(TooltipDisplayMode.Single)
        .yHistogram(true),
    );
  panel.targets.forEach(([expr], i) =>
    builder.withTarget(
      query(expr, '{{le}}', i).range().format(PromQueryFormat.Heatmap),
    ),
  );
  return builder;
}

// Names of labels, in order, and how their columns are called.
export type Columns = [label: string, title: string][];

// One line per combination of `labels`; a column per target, with its own unit.
export function rows(
  panel: Panel & {
    labels: Columns;
    units?: Record<string, string>; // of columns, by title
    decimals?: Record<string, number>;
    colors?: Record<string, Record<string, string>>; // column, text -> color
    hideValue?: boolean; // the labels are all there is to say
    sortBy?: string; // column, largest first
    links?: Record<string, string>; // column, where its values lead
  },
): cog.Builder<any> {
  const several = panel.targets.length > 1;
  const value = (i: number) => (several ? `Value #${refId(i)}` : 'Value');
  const order = [
    ...panel.labels.map(([label]) => label),
    ...panel.targets.map((_, i) => value(i)),
  ];
  const names: [string, string][] = [
    ...panel.labels,
    ...panel.targets
      .map(([, title], i): [string, string] => [value(i), title ?? ''])
      .filter(([, title]) => title !== ''),
  ];
  const hidden = ['Time'].concat(
    panel.targets
      .map(([, title], i) => (title === undefined ? value(i) : ''))
      .filter((name) => name !== ''),
  );
  const builder = new table.PanelBuilder()
    .title(panel.title)
    .description(panel.description)
    .datasource(DATASOURCE)
    .unit(panel.unit)
    .height(panel.height ?? 8)
    .span(panel.width ?? 24)
    .showHeader(true)
    .filterable(true);
  if (several) builder.withTransformation({ id: 'merge', options: {} });
  builder.withTransformation({
    id: 'organize',
    options: {
      excludeByName: Object.fromEntries(hidden.map((name) => [name, true])),
      indexByName: Object.fromEntries(order.map((name, i) => [name, i])),
      renameByName: Object.fromEntries(names),
    },
  });
  if (panel.sortBy) {
    builder.sortBy([
      new TableSortByFieldStateBuilder().displayName(panel.sortBy).desc(true),
    ]);
  }
  for (const [column, unit] of Object.entries(panel.units ?? {})) {
    builder.overrideByName(column, [{ id: 'unit', value: unit }]);
  }
  for (const [column, count] of Object.entries(panel.decimals ?? {})) {
    builder.overrideByName(column, [{ id: 'decimals', value: count }]);
  }
  for (const [column, url] of Object.entries(panel.links ?? {})) {
    builder.overrideByName(column, [
      { id: 'links', value: [{ title: column, url, targetBlank: true }] },
    ]);
  }
  for (const [column, colors] of Object.entries(panel.colors ?? {})) {
    builder.overrideByName(column, [
      { id: 'custom.cellOptions', value: { type: 'color-text' } },
      {
        id: 'mappings',
        value: [
          {
            type: 'value',
            options: Object.fromEntries(
              Object.entries(colors).map(([text, color], index) => [
                text,
                { text, color, index },
              ]),
            ),
          },
        ],
      },
    ]);
  }
  panel.targets.forEach(([expr], i) =>
    builder.withTarget(
      query(expr, '', i).instant().format(PromQueryFormat.Table),
    ),
  );
  return builder;
}
