// Compressors, preemption models and kinds of lock beside each other.
import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { type Columns, lines, rows } from './panels.js';
import { CHOSEN, max, ratio, sum } from './queries.js';
import { screen } from './screen.js';

const BY_CODEC = 'algorithm, kernel, subsystem, op';
const BY_PREEMPT = 'preempt, kernel, subsystem, op';

const hardware = (name: string) =>
  sum(
    'cpu_family, kernel, subsystem, op',
    CHOSEN.rate(`swaplock_hardware_${name}`),
  );

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
    'Hardware, compressors and preemption',
    'Which compressor, preemption model and kind of lock has which holds and waits.',
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
    .withPanel(
      rows({
        title: 'By kind of CPU',
        description:
          'Vendor, family and model of the hosts\' CPUs, as /proc/cpuinfo has them; "unknown" until a host has said it. Since the server began. Verdicts compare only hosts of one kind.',
        unit: 'none',
        height: 10,
        labels: [
          ['cpu_family', 'CPU'],
          ['subsystem', 'Subsystem'],
          ['op', 'Operation'],
          ['kernel', 'Kernel'],
        ],
        targets: [
          [hardware('acquisitions_total'), 'Acquisitions'],
          [
            ratio(hardware('contended_total'), hardware('acquisitions_total')),
            'Contended',
          ],
          [
            `1e6 * ${ratio(hardware('long_waits_total'), hardware('acquisitions_total'))}`,
            'Waits over 10 ms per million',
          ],
          [
            ratio(hardware('hold_seconds_total'), hardware('acquisitions_total')),
            'Hold mean',
          ],
          [
            ratio(
              hardware('hold_runnable_seconds_total'),
              hardware('hold_seconds_total'),
            ),
            'Runnable',
          ],
        ],
        units: {
          Acquisitions: 'ops',
          Contended: 'percentunit',
          'Hold mean': 's',
          Runnable: 'percentunit',
        },
        decimals: { 'Waits over 10 ms per million': 1 },
      }),
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
