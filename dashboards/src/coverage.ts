// What agents see, what they lose, and what they cost.
import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { lines, rows } from './panels.js';
import { CHOSEN, max, ratio, rate, server, sum } from './queries.js';
import { screen } from './screen.js';

const selfTest = (name: string) => max('subsystem, op, outcome', server(name));

export const coverage = () =>
  screen(
    'coverage',
    'Agents',
    'Which probes are attached where, which numbers are measured how, what was lost, and what agents cost their hosts.',
  )
    .withRow(new RowBuilder('Coverage'))
    .withPanel(
      rows({
        title: 'Probes',
        description:
          'Hosts on which each probe is attached, by their last window. 0: refused on all of them; not listed: not needed or not there.',
        unit: 'none',
        width: 10,
        height: 12,
        labels: [
          ['kernel', 'Kernel'],
          ['probe', 'Probe'],
        ],
        targets: [
          [
            sum('kernel, probe', server('swaplock_probe_attached_hosts', 'kernel=~"$kernel"')),
            'Hosts',
          ],
        ],
      }),
    )
    .withPanel(
      rows({
        title: 'What is measured, and how',
        description:
          'Kinds of lock and tiers per kernel; "none" is lock-free, "unspecified" is not measured. More than one line per lock means that hosts differ.',
        unit: 'none',
        width: 14,
        height: 12,
        labels: [
          ['kernel', 'Kernel'],
          ['preempt', 'Preemption'],
          ['subsystem', 'Subsystem'],
          ['op', 'Operation'],
          ['role', 'Lock'],
          ['lock_model', 'Kind of lock'],
          ['hold_tier', 'Holds'],
          ['wait_tier', 'Waits'],
          ['latency_tier', 'Operations'],
        ],
        targets: [
          [
            `count by (kernel, preempt, subsystem, op, role, lock_model, hold_tier, wait_tier, latency_tier) (${CHOSEN.series('swaplock_cell_info')})`,
          ],
        ],
      }),
    )
    .withRow(new RowBuilder('Self-test of the verdicts'))
    .withPanel(
      rows({
        title: 'False alarms and power',
        description:
          'Every night hosts that kept their kernel are split into halves and compared. False alarms: share of splits in which a test at 5 % found a difference, with its 95 % interval. Found: share in which it was found after the events of one half had been multiplied. Trusted 0: the outcome does not alert.',
        unit: 'percentunit',
        labels: [
          ['subsystem', 'Subsystem'],
          ['op', 'Operation'],
          ['outcome', 'Outcome'],
        ],
        targets: [
          [selfTest('swaplock_selftest_false_positive_ratio'), 'False alarms'],
          [selfTest('swaplock_selftest_false_positive_ratio_lower'), 'Lower'],
          [selfTest('swaplock_selftest_false_positive_ratio_upper'), 'Upper'],
          [selfTest('swaplock_selftest_power_ratio'), 'Found'],
          [selfTest('swaplock_selftest_splits'), 'Splits'],
          [selfTest('swaplock_selftest_trusted'), 'Trusted'],
        ],
        units: { Splits: 'none', Trusted: 'none' },
      }),
    )
    .withRow(new RowBuilder('Losses and cost'))
    .withPanel(
      lines({
        title: 'Events lost',
        description: 'Events that agents could not count, by reason.',
        unit: 'cps',
        targets: [
          [sum('reason', rate(server('swaplock_events_lost_total'))), '{{reason}}'],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Agent cost',
        description:
          'CPU that an agent uses on its host, on average: 0.01 is one percent of one CPU. The run time of its BPF programs is not in it.',
        unit: 'percentunit',
        targets: [
          [
            ratio(
              sum('', rate(server('swaplock_agent_cpu_seconds_total'))),
              sum('', server('swaplock_hosts', 'state="connected"')),
            ),
            'per host',
          ],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Holds that were timed',
        description:
          'Share of acquisitions whose hold was timed: below 1 where --cpu_budget thins them out. All are counted.',
        unit: 'percentunit',
        targets: [
          [
            ratio(
              sum('kernel', CHOSEN.rate('swaplock_hold_seconds_count')),
              sum('kernel', CHOSEN.rate('swaplock_acquisitions_total')),
            ),
            '{{kernel}}',
          ],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Hosts by state',
        description:
          'Hosts with an open stream; with more than one, as two agents of one identity have; set aside because their windows were refused; ever seen.',
        unit: 'short',
        targets: [[sum('state', server('swaplock_hosts')), '{{state}}']],
      }),
    );
