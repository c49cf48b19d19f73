// What all dashboards share: variables, links between them, annotations.
import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE } from './panels.js';
import { server } from './queries.js';

function choice(name: string, label: string, definition: string, several = true) {
  const variable = new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATASOURCE)
    .query({ query: definition, refId: 'StandardVariableQuery' })
    .definition(definition)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(several)
    .includeAll(several);
  return several
    ? variable
        .allValue('.+')
        .current({ selected: true, text: ['All'], value: ['$__all'] })
    : variable;
}

// One value only, of `label` of a series.
export const one = (name: string, label: string, series: string, from: string) =>
  choice(name, label, `label_values(${series}, ${from})`, false);

// A dashboard with job and instance, and by default kernel and subsystem.
export function screen(
  uid: string,
  title: string,
  description: string,
  cells = true,
): DashboardBuilder {
  const builder = new DashboardBuilder(`swaplock / ${title}`)
    .uid(`swaplock-${uid}`)
    .description(description)
    .tags(['swaplock'])
    .readonly()
    .refresh('1m')
    .time({ from: 'now-6h', to: 'now' })
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .version(1)
    .link(
      new DashboardLinkBuilder('swaplock')
        .type(DashboardLinkType.Dashboards)
        .tags(['swaplock'])
        .asDropdown(true)
        .includeVars(true)
        .keepTime(true),
    )
    .withVariable(
      new DatasourceVariableBuilder('datasource')
        .label('Data source')
        .type('prometheus'),
    )
    .withVariable(
      choice('job', 'Job', 'label_values(swaplock_build_info, job)'),
    )
    .withVariable(
      choice(
        'instance',
        'Instance',
        'label_values(swaplock_build_info{job=~"$job"}, instance)',
      ),
    );
  if (cells) {
    for (const [name, label] of [
      ['kernel', 'Kernel'],
      ['subsystem', 'Subsystem'],
    ]) {
      builder.withVariable(
        choice(name, label, `label_values(${server('swaplock_cell_info')}, ${name})`),
      );
    }
  }
  return builder
    .annotation(
      annotation(
        'Kernel roll-outs',
        'rgba(0, 152, 216, 1)',
        `count by (kernel) (${server('swaplock_cell_info')}) unless ` +
          `count by (kernel) (${server('swaplock_cell_info')} offset 10m)`,
        'first hosts on {{kernel}}',
      ),
    )
    .annotation(
      annotation(
        'Verdicts',
        'rgba(220, 50, 47, 1)',
        `max by (kernel_base, kernel_new) (${regression}) unless ` +
          `max by (kernel_base, kernel_new) (${regression} offset 10m)`,
        'regression: {{kernel_base}} to {{kernel_new}}',
      ),
    );
}

const regression = server('swaplock_verdict', 'verdict="regression"');

function annotation(name: string, color: string, expr: string, title: string) {
  const builder = new AnnotationQueryBuilder()
    .name(name)
    .datasource(DATASOURCE)
    .enable(true)
    .hide(false)
    .iconColor(color);
  // The builder knows annotations' own fields; these are Prometheus'.
  return {
    build: () => ({
      ...builder.build(),
      expr,
      step: '60s',
      titleFormat: title,
      useValueForTime: false,
    }),
  };
}
