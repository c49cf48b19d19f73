// One operation in depth: its locks, who held them and what kept them.
import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { heat, lines, rows } from './panels.js';
import { CHOSEN, max, server, sum } from './queries.js';
import { one, screen } from './screen.js';

const CELLS = CHOSEN.only('op="$op"');
const LOCK = 'kernel, role, mode';
const LEGEND = '{{kernel}} {{role}} {{mode}}';

export const operation = () =>
  screen(
    'operation',
    'One operation',
    'The locks that one operation takes, by role and mode. Which task preempted a holder is not a metric: the page of the server names it for each of the longest holds.',
  )
    .withVariable(
      one('op', 'Operation', server('swaplock_cell_info', 'subsystem=~"$subsystem"'), 'op'),
    )
    .withRow(new RowBuilder('From entry to exit'))
    .withPanel(
      lines({
        title: 'Operation p50 and p99',
        description:
          'Whole operations, waits and holds included, by the lock that they take; "none" is lock-free. Interpolated within buckets.',
        unit: 's',
        log: true,
        targets: [0.5, 0.99].map((q) => [
          CELLS.quantile(q, 'kernel, subsystem, lock_model', 'swaplock_operation_seconds'),
          `{{kernel}} {{subsystem}} {{lock_model}} p${q * 100}`,
        ]),
      }),
    )
    .withPanel(
      lines({
        title: 'Operations over 10 and 100 ms per million',
        description: 'Exact: both are edges of the histogram.',
        unit: 'short',
        targets: [
          ['0.01', '10 ms'],
          ['0.1', '100 ms'],
        ].map(([le, name]) => [
          CELLS.overPerMillion('kernel, subsystem, lock_model', 'swaplock_operation_seconds', le),
          `{{kernel}} {{subsystem}} {{lock_model}} over ${name}`,
        ]),
      }),
    )
    .withPanel(
      lines({
        title: 'Operation mean',
        description:
          "Mean duration of whole operations. Holds and waits of an operation's locks are part of it, compression too.",
        unit: 's',
        targets: [
          [
            CELLS.mean('kernel, subsystem, lock_model', 'swaplock_operation_seconds'),
            '{{kernel}} {{subsystem}} {{lock_model}}',
          ],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Operations by lock',
        description:
          'Operations per second by the lock that they take on their kernel; "none" is lock-free.',
        unit: 'ops',
        targets: [
          [
            sum('kernel, subsystem, lock_model', CELLS.rate('swaplock_operation_seconds_count')),
            '{{kernel}} {{subsystem}} {{lock_model}}',
          ],
        ],
      }),
    )
    .withRow(new RowBuilder('Locks'))
    .withPanel(
      rows({
        title: 'Roles and modes',
        description:
          'Each lock that the operation takes, now. Empty where a host cannot measure it.',
        unit: 'none',
        labels: [
          ['kernel', 'Kernel'],
          ['role', 'Lock'],
          ['mode', 'Mode'],
        ],
        targets: [
          [sum(LOCK, CELLS.rate('swaplock_acquisitions_total')), 'Acquisitions'],
          [CELLS.contendedShare(LOCK), 'Contended'],
          [CELLS.quantile(0.99, LOCK, 'swaplock_wait_seconds'), 'Wait p99'],
          [CELLS.quantile(0.99, LOCK, 'swaplock_hold_seconds'), 'Hold p99'],
          [CELLS.runnableShare(LOCK), 'Runnable'],
          [max(LOCK, CELLS.series('swaplock_longest_hold_seconds')), 'Longest hold'],
          [max(LOCK, CELLS.series('swaplock_longest_wait_seconds')), 'Longest wait'],
        ],
        units: {
          Acquisitions: 'ops',
          Contended: 'percentunit',
          'Wait p99': 's',
          'Hold p99': 's',
          Runnable: 'percentunit',
          'Longest hold': 's',
          'Longest wait': 's',
        },
      }),
    )
    .withPanel(
      heat({
        title: 'Waits',
        description: 'How long contended acquisitions waited.',
        unit: 's',
        targets: [[sum('le', CELLS.rate('swaplock_wait_seconds_bucket'))]],
      }),
    )
    .withPanel(
      heat({
        title: 'Holds',
        description: 'How long locks were held.',
        unit: 's',
        targets: [[sum('le', CELLS.rate('swaplock_hold_seconds_bucket'))]],
      }),
    )
    .withRow(new RowBuilder('What holders did'))
    .withPanel(
      lines({
        title: 'Where hold time goes',
        description:
          'Lock-seconds per second, by what holders do meanwhile. The four parts make up all hold time.',
        unit: 'none',
        stacked: true,
        targets: CELLS.holdParts(),
      }),
    )
    .withPanel(
      lines({
        title: 'What the runnable part is made of',
        description:
          'Lock-seconds per second in which holders were runnable without a CPU: preempted while they ran (that by cpu.max apart), woken from a sleep, or not seen by any hook.',
        unit: 'none',
        stacked: true,
        targets: CELLS.runnableParts(),
      }),
    )
    .withPanel(
      lines({
        title: 'Holds over 10 and 100 ms per million',
        description: 'Exact, for both are edges of the histogram.',
        unit: 'short',
        targets: [
          ['0.01', '10 ms'],
          ['0.1', '100 ms'],
        ].map(([le, name]) => [
          CELLS.overPerMillion(LOCK, 'swaplock_hold_seconds', le),
          `${LEGEND} over ${name}`,
        ]),
      }),
    )
    .withPanel(
      lines({
        title: 'Holders that moved to another CPU',
        description:
          'Migrations of tasks that held a lock, per second. The stream they hold stays that of the CPU they came from.',
        unit: 'cps',
        targets: [[sum(LOCK, CELLS.rate('swaplock_holder_migrations_total')), LEGEND]],
      }),
    )
    .withRow(new RowBuilder('What waiters waited for'))
    .withPanel(
      lines({
        title: 'Waits by what the owner did',
        description: "What the lock's owner was doing when a wait began.",
        unit: 'cps',
        stacked: true,
        targets: [[sum('state', CELLS.rate('swaplock_waits_owner_total')), '{{state}}']],
      }),
    )
    .withPanel(
      lines({
        title: 'Priority inversions',
        description: "Waits for an owner of lower priority than the waiter's.",
        unit: 'cps',
        targets: [[sum(LOCK, CELLS.rate('swaplock_inversions_total')), LEGEND]],
      }),
    )
    .withPanel(
      lines({
        title: 'Wait time behind a runnable owner',
        description:
          'Seconds of waiting per second that passed while the owner was ready to run but had no CPU: waiting that more CPU or less preemption would have saved.',
        unit: 'none',
        targets: [
          [sum(LOCK, CELLS.rate('swaplock_wait_owner_runnable_seconds_total')), LEGEND],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Off-CPU intervals of owners, p99',
        description:
          'Of hosts that cannot see where holds begin and end, but find owners that leave their CPU with the lock. They cannot tell operations apart, so this one is of the whole subsystem.',
        unit: 's',
        log: true,
        targets: [
          [
            CHOSEN.quantile(0.99, 'kernel, subsystem, state', 'swaplock_owner_off_cpu_interval_seconds'),
            '{{kernel}} {{subsystem}} {{state}}',
          ],
        ],
      }),
    );
