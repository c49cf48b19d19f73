// Compressors, preemption models and kinds of lock beside each other.
import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { type Columns, lines, rows } from './panels.js';
import { CHOSEN, max, sum } from './queries.js';
import { screen } from './screen.js';

const BY_CODEC = 'algorithm, kernel, subsystem, op';
const BY_PREEMPT = 'preempt, kernel, subsystem, op';

function matrix(title: string, description: string, first: [string, string], by: string) {
  const labels: Columns = [
    first,
    ['subsystem', 'Subsystem'],
    ['op', 'Operation'],
    ['kernel', 'Kernel'],
  ];
  return rows({
    title,
    description,
    unit: 'none',
    height: 10,
    labels,
    targets: [
      [CHOSEN.operations(by), 'Operations'],
      [CHOSEN.contendedShare(by), 'Contended'],
      [CHOSEN.waitsOver10msPerMillionOperations(by), 'Waits over 10 ms per million'],
      [CHOSEN.mean(by, 'swaplock_hold_seconds'), 'Hold mean'],
      [CHOSEN.quantile(0.99, by, 'swaplock_hold_seconds'), 'Hold p99'],
      [CHOSEN.runnableShare(by), 'Runnable'],
      [max(by, CHOSEN.series('swaplock_longest_hold_seconds')), 'Longest hold'],
    ],
    units: {
      Operations: 'ops',
      Contended: 'percentunit',
      'Hold mean': 's',
      'Hold p99': 's',
      Runnable: 'percentunit',
      'Longest hold': 's',
    },
    decimals: { 'Waits over 10 ms per million': 1 },
  });
}

export const codecs = () =>
  screen(
    'codecs',
    'Compressors and preemption',
    'Which compressor, preemption model and kind of lock has which holds and waits. Hardware is a stratum of verdicts, not a label: see `swaplock explain`.',
  )
    .withRow(new RowBuilder('Matrices'))
    .withPanel(
      matrix(
        'By compressor',
        'A slow compressor holds its stream for longer; so a kernel is compared only within a compressor. Empty: unknown.',
        ['algorithm', 'Compressor'],
        BY_CODEC,
      ),
    )
    .withPanel(
      matrix(
        'By preemption model',
        'The same kernel behaves differently under none, lazy and full preemption: a holder can be preempted in some of them only.',
        ['preempt', 'Preemption'],
        BY_PREEMPT,
      ),
    )
    .withRow(new RowBuilder('Over time'))
    .withPanel(
      lines({
        title: 'Hold mean by compressor',
        description: 'Mean time that a lock was held, by compressor.',
        unit: 's',
        log: true,
        targets: [
          [
            CHOSEN.mean('algorithm, subsystem, op', 'swaplock_hold_seconds'),
            '{{algorithm}} {{subsystem}} {{op}}',
          ],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Runnable share by preemption model',
        description:
          'Part of all hold time in which holders were ready to run but had no CPU.',
        unit: 'percentunit',
        targets: [
          [CHOSEN.runnableShare('preempt, subsystem, op'), '{{preempt}} {{subsystem}} {{op}}'],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Operation p99 by compressor',
        description: 'Whole operations from entry to exit; interpolated within buckets.',
        unit: 's',
        log: true,
        targets: [
          [
            CHOSEN.quantile(0.99, 'algorithm, subsystem, op', 'swaplock_operation_seconds'),
            '{{algorithm}} {{subsystem}} {{op}}',
          ],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Operations by kind of lock',
        description: 'Operations per second by the lock they take; "none" is lock-free.',
        unit: 'ops',
        targets: [
          [
            sum('lock_model, subsystem, op', CHOSEN.rate('swaplock_operation_seconds_count')),
            '{{lock_model}} {{subsystem}} {{op}}',
          ],
        ],
      }),
    );
