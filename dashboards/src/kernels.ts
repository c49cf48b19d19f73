// Kernel A against kernel B: what the verdict is, and what it rests on.
import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { heat, lines, rows } from './panels.js';
import { Cells, max, server, sum } from './queries.js';
import { one, screen } from './screen.js';
import { verdictTable } from './verdict_table.js';

const SUBSYSTEM = 'subsystem=~"$subsystem"';
const BASE = new Cells('kernel="$base"', SUBSYSTEM);
const NEW = new Cells('kernel="$new"', SUBSYSTEM);
const BOTH = new Cells('kernel=~"${base:regex}|${new:regex}"', SUBSYSTEM);
const OP = 'kernel, subsystem, op';
const LEGEND = '{{kernel}} {{subsystem}} {{op}}';
const INFO = server('swaplock_cell_info');

const histogram = (cells: Cells, kernel: string, name: string, what: string) =>
  heat({
    title: `${what}, ${kernel}`,
    description: `How long ${what.toLowerCase()} took on the ${kernel} kernel, events per second in each bucket. The two pictures have the same buckets.`,
    unit: 's',
    targets: [[sum('le', cells.rate(`${name}_bucket`))]],
  });

export const kernels = () =>
  screen(
    'kernels',
    'Kernel against kernel',
    'Two kernels side by side. Lines over all hosts together are there to look at; the verdict compares hosts.',
    false,
  )
    .withVariable(one('base', 'Base kernel', INFO, 'kernel'))
    .withVariable(one('new', 'New kernel', INFO, 'kernel'))
    .withVariable(
      one('subsystem', 'Subsystem', INFO, 'subsystem')
        .multi(true)
        .includeAll(true)
        .allValue('.+')
        .current({ selected: true, text: ['All'], value: ['$__all'] }),
    )
    .withRow(new RowBuilder('Verdict'))
    .withPanel(
      verdictTable(
        'What the statistics say of this pair. Ratio is new over base with its 90 % interval; empty when no test was made. Detectable: the true ratio that these hosts would show 4 times in 5. Alerts: 1 when it is to wake somebody.',
        'kernel_base="$base"',
        'kernel_new="$new"',
        SUBSYSTEM,
      ),
    )
    .withPanel(
      rows({
        title: 'Side by side',
        description:
          'Both kernels now, per operation. Shares and rates are of all hosts together; a verdict needs more than that.',
        unit: 'none',
        labels: [
          ['subsystem', 'Subsystem'],
          ['op', 'Operation'],
          ['kernel', 'Kernel'],
        ],
        targets: [
          [BOTH.operations(OP), 'Operations'],
          [BOTH.contendedShare(OP), 'Contended'],
          [BOTH.quantile(0.99, OP, 'swaplock_wait_seconds'), 'Wait p99'],
          [
            BOTH.waitsOver10msPerMillionOperations(OP),
            'Waits over 10 ms per million',
          ],
          [BOTH.runnableShare(OP), 'Hold time runnable'],
          [
            max(OP, BOTH.series('swaplock_longest_hold_seconds')),
            'Longest hold of the day',
          ],
        ],
        units: {
          Operations: 'ops',
          Contended: 'percentunit',
          'Wait p99': 's',
          'Hold time runnable': 'percentunit',
          'Longest hold of the day': 's',
        },
        decimals: { 'Waits over 10 ms per million': 1 },
      }),
    )
    .withRow(new RowBuilder('Roll-out'))
    .withPanel(
      lines({
        title: 'Hosts of the roll-out',
        description:
          'Hosts that went from the base to the new kernel, those of them whose days after the upgrade are not over, and hosts that did not change.',
        unit: 'short',
        targets: [
          [
            max('state', server('swaplock_rollout_hosts', 'kernel_base="$base"', 'kernel_new="$new"')),
            '{{state}}',
          ],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Evidence at every look',
        description:
          'E-values of the sequential test: the bet against no difference, valid at every look. 1 is none; above 1 / 0.05 a single one would reject.',
        unit: 'short',
        log: true,
        targets: [
          [
            max(
              'subsystem, op, outcome, direction',
              server('swaplock_verdict_evalue', 'kernel_base="$base"', 'kernel_new="$new"', SUBSYSTEM),
            ),
            '{{subsystem}} {{op}} {{outcome}} {{direction}}',
          ],
        ],
      }),
    )
    .withRow(new RowBuilder('Distributions'))
    .withPanel(histogram(BASE, 'base', 'swaplock_wait_seconds', 'Waits'))
    .withPanel(histogram(NEW, 'new', 'swaplock_wait_seconds', 'Waits'))
    .withPanel(histogram(BASE, 'base', 'swaplock_hold_seconds', 'Holds'))
    .withPanel(histogram(NEW, 'new', 'swaplock_hold_seconds', 'Holds'))
    .withRow(new RowBuilder('Over time'))
    .withPanel(
      lines({
        title: 'Wait p50 and p99',
        description: 'Of contended acquisitions; interpolated within buckets.',
        unit: 's',
        log: true,
        targets: [
          [BOTH.quantile(0.5, OP, 'swaplock_wait_seconds'), `${LEGEND} p50`],
          [BOTH.quantile(0.99, OP, 'swaplock_wait_seconds'), `${LEGEND} p99`],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Waits over 10 ms per million operations',
        description:
          'The outcome that verdicts judge, over all hosts together. Exact: 10 ms is an edge of the histogram.',
        unit: 'short',
        targets: [[BOTH.waitsOver10msPerMillionOperations(OP), LEGEND]],
      }),
    )
    .withPanel(
      lines({
        title: 'Operation p99',
        description:
          'Whole operations from entry to exit, by the lock that they take; "none" is lock-free. Comparable between kernels whose locks differ.',
        unit: 's',
        log: true,
        targets: [
          [
            BOTH.quantile(0.99, `${OP}, lock_model`, 'swaplock_operation_seconds'),
            `${LEGEND} {{lock_model}}`,
          ],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Runnable share of hold time',
        description:
          'Part of all hold time in which holders were ready to run but had no CPU.',
        unit: 'percentunit',
        targets: [[BOTH.runnableShare(OP), LEGEND]],
      }),
    );
