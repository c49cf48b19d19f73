// The fleet at a glance, with the day's longest holds.
import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { lines, number, rows } from './panels.js';
import { CHOSEN, max, server, sum } from './queries.js';
import { screen } from './screen.js';
import { verdictTable } from './verdict_table.js';

const OP = 'kernel, subsystem, op';
const LOCK = 'kernel, subsystem, op, role';
const LEGEND = '{{kernel}} {{subsystem}} {{op}}';
const HOLD = CHOSEN.series('swaplock_longest_hold_seconds');
const RUNNABLE = CHOSEN.series('swaplock_longest_hold_runnable_seconds');

export const fleet = () =>
  screen(
    'fleet',
    'Fleet',
    "Health of the locks on Linux's swap-compression path, over all hosts. The metrics are described in docs/METRICS.md.",
  )
    .withRow(new RowBuilder('Fleet'))
    .withPanel(
      number({
        title: 'Hosts',
        description:
          'Hosts with an open stream to the server, and hosts that ever sent a window.',
        unit: 'short',
        targets: [
          [sum('', server('swaplock_hosts', 'state="connected"')), 'connected'],
          [sum('', server('swaplock_hosts', 'state="seen"')), 'ever seen'],
        ],
      }),
    )
    .withPanel(
      number({
        title: 'Operations',
        description:
          'Operations per second of all hosts that see every hold. An operation takes each of its locks about once, so it is counted by the lock taken most often.',
        unit: 'ops',
        targets: [[sum('', CHOSEN.operations(OP))]],
      }),
    )
    .withPanel(
      number({
        title: 'Contended share',
        description:
          'Share of acquisitions that had to wait, over cells whose waits are measured.',
        unit: 'percentunit',
        decimals: 3,
        targets: [[CHOSEN.contendedShare('')]],
      }),
    )
    .withPanel(
      number({
        title: 'Longest hold of the day',
        description:
          "Longest hold that ended within the last 24 hours. The server's page names its host and task.",
        unit: 's',
        thresholds: [
          [null, 'green'],
          [0.01, 'orange'],
          [0.1, 'red'],
        ],
        targets: [[max('', HOLD)]],
      }),
    )
    .withPanel(
      number({
        title: 'Runnable share of it',
        description:
          "How much of that hold its holder was ready to run but had no CPU. Not measured when the hold's parts are not known.",
        unit: 'percentunit',
        decimals: 1,
        targets: [
          [
            max(
              '',
              `${RUNNABLE} / (${HOLD} == on () group_left () ${max('', HOLD)} > 0)`,
            ),
          ],
        ],
      }),
    )
    .withPanel(
      number({
        title: 'Regressions',
        description:
          'Kernel pairs and operations whose current verdict is a regression.',
        unit: 'none',
        thresholds: [
          [null, 'green'],
          [1, 'red'],
        ],
        targets: [
          [
            `count(${max(
              'kernel_base, kernel_new, subsystem, op, outcome',
              server('swaplock_verdict', 'verdict="regression"'),
            )}) or vector(0)`,
          ],
        ],
      }),
    )
    .withRow(new RowBuilder('Verdicts and the longest holds'))
    .withPanel(
      verdictTable(
        "Kernels that replaced another one, hosts as the unit. Ratio is new over base with its 90 % interval; both are empty when no test was made. The server's page has the sentence and the evidence.",
      ),
    )
    .withPanel(
      rows({
        title: 'Longest holds and waits of the day',
        description:
          'By kernel, operation and lock, of the last 24 hours. The runnable part is that of the longest hold, and empty when not known.',
        unit: 's',
        labels: [
          ['kernel', 'Kernel'],
          ['subsystem', 'Subsystem'],
          ['op', 'Operation'],
          ['role', 'Lock'],
        ],
        targets: [
          [max(LOCK, `${HOLD} > 0`), 'Longest hold'],
          [
            max(
              LOCK,
              `${RUNNABLE} and (${HOLD} == on (${LOCK}) group_left () ${max(LOCK, HOLD)})`,
            ),
            'Its runnable part',
          ],
          [
            max(LOCK, `${CHOSEN.series('swaplock_longest_wait_seconds')} > 0`),
            'Longest wait',
          ],
        ],
        sortBy: 'Longest hold',
      }),
    )
    .withPanel(
      rows({
        title: 'The longest holds, each with its page',
        description:
          "The five longest holds that ended within the last 24 hours. A hold's number leads to its page on the server that Prometheus scrapes: who ran instead and who waited.",
        unit: 's',
        labels: [
          ['instance', 'Server'],
          ['kernel', 'Kernel'],
          ['subsystem', 'Subsystem'],
          ['op', 'Operation'],
          ['role', 'Lock'],
          ['hold', 'Hold'],
        ],
        targets: [
          [
            max(
              `instance, ${LOCK}, hold`,
              CHOSEN.series('swaplock_top_hold_seconds'),
            ),
            'Held for',
          ],
        ],
        links: {
          Hold: 'http://${__data.fields.Server}/hold?id=${__value.raw}',
        },
        sortBy: 'Held for',
      }),
    )
    .withRow(new RowBuilder('Operations and waits'))
    .withPanel(
      lines({
        title: 'Operations by kernel',
        description:
          'Operations per second, by the lock taken most often; only hosts that see every hold.',
        unit: 'ops',
        targets: [[CHOSEN.operations(OP), LEGEND]],
      }),
    )
    .withPanel(
      lines({
        title: 'Contended share by kernel',
        description:
          'Share of acquisitions that had to wait, over cells whose waits are measured.',
        unit: 'percentunit',
        targets: [[CHOSEN.contendedShare(OP), LEGEND]],
      }),
    )
    .withPanel(
      lines({
        title: 'Wait p99',
        description:
          '99th percentile of how long contended acquisitions waited; interpolated within buckets.',
        unit: 's',
        log: true,
        targets: [[CHOSEN.quantile(0.99, OP, 'swaplock_wait_seconds'), LEGEND]],
      }),
    )
    .withPanel(
      lines({
        title: 'Waits over 10 ms per million operations',
        description:
          'The outcome that verdicts judge, here over all hosts together: one bad host can make it. Exact, for 10 ms is an edge of the histogram.',
        unit: 'short',
        targets: [[CHOSEN.waitsOver10msPerMillionOperations(OP), LEGEND]],
      }),
    )
    .withPanel(
      lines({
        title: 'Where hold time goes',
        description:
          'Lock-seconds per second: how many locks are held on average, by what their holders do meanwhile. The four parts make up all hold time.',
        unit: 'none',
        stacked: true,
        targets: CHOSEN.holdParts(),
      }),
    )
    .withPanel(
      lines({
        title: 'Runnable share of hold time',
        description:
          'Part of all hold time in which holders were ready to run but had no CPU. 0 where the lock turns preemption off.',
        unit: 'percentunit',
        targets: [[CHOSEN.runnableShare(OP), LEGEND]],
      }),
    );
