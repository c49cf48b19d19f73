// From the hosts to the ledger: what came, what did not, and the server itself.
import { RowBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { lines } from './panels.js';
import { max, rate, ratio, server, sum } from './queries.js';
import { screen } from './screen.js';

const THIRD = 8;
const counter = (by: string, name: string) => sum(by, rate(server(name)));

export const pipeline = () =>
  screen(
    'pipeline',
    'Pipeline',
    'Windows on their way from agents to the ledger, and the process that takes them.',
    false,
  )
    .withRow(new RowBuilder('Windows'))
    .withPanel(
      lines({
        title: 'Windows received',
        description:
          'Windows per second by what became of them: merged, known already (sent again after a lost acknowledgement), rejected.',
        unit: 'cps',
        targets: [[counter('result', 'swaplock_windows_total'), '{{result}}']],
      }),
    )
    .withPanel(
      lines({
        title: 'Windows rejected',
        description:
          'By reason. "busy", "storage" and "too_fast" come again; the others are lost for good.',
        unit: 'cps',
        targets: [[counter('reason', 'swaplock_windows_rejected_total'), '{{reason}}']],
      }),
    )
    .withPanel(
      lines({
        title: 'Windows missing',
        description: 'Windows whose sequence numbers were skipped, per second.',
        unit: 'cps',
        width: THIRD,
        targets: [[counter('', 'swaplock_windows_missing_total'), 'missing']],
      }),
    )
    .withPanel(
      lines({
        title: 'Windows in doubt',
        description:
          'Merged though another server may have counted them too, per second: the agent turned to this one while an answer was owed. Servers that share a ledger count them once.',
        unit: 'cps',
        width: THIRD,
        targets: [[counter('', 'swaplock_windows_in_doubt_total'), 'in doubt']],
      }),
    )
    .withPanel(
      lines({
        title: 'Cells and windows without a name',
        description:
          'Counted under "other" because too many kernels or compressors came, and cells left out, per second.',
        unit: 'cps',
        width: THIRD,
        targets: [[counter('what', 'swaplock_overflow_total'), '{{what}}']],
      }),
    )
    .withRow(new RowBuilder('Agents on their way to the server'))
    .withPanel(
      lines({
        title: 'Windows waiting on hosts',
        description:
          'In spools, as each host said last: on its disk, or in memory only because its disk fails. It grows while hosts do not reach a server.',
        unit: 'short',
        targets: [[sum('where', server('swaplock_agent_spool_windows')), '{{where}}']],
      }),
    )
    .withPanel(
      lines({
        title: 'What agents met',
        description:
          'Per second: attempts to connect, windows put off, merged because the spool was full, lost, refused for good or held back by a failing disk, errors of the disk, damaged places in the spool.',
        unit: 'cps',
        targets: [[counter('event', 'swaplock_agent_delivery_events_total'), '{{event}}']],
      }),
    )
    .withRow(new RowBuilder('Streams and connections'))
    .withPanel(
      lines({
        title: 'Streams refused',
        description: 'Streams that the server ended, per second, by reason.',
        unit: 'cps',
        targets: [[counter('reason', 'swaplock_streams_refused_total'), '{{reason}}']],
      }),
    )
    .withPanel(
      lines({
        title: 'Connections',
        description:
          'Open on the gRPC port; and per second, closed at once because there were too many, and made to wait for the rate of handshakes.',
        unit: 'short',
        targets: [
          [sum('', server('swaplock_connections')), 'open'],
          [counter('', 'swaplock_connections_refused_total'), 'refused per second'],
          [counter('', 'swaplock_connections_delayed_total'), 'delayed per second'],
        ],
      }),
    )
    .withRow(new RowBuilder('Server'))
    .withPanel(
      lines({
        title: 'Ingest lag',
        description:
          "From the end of the last window, by its host's clock, to its commit. A clock that is wrong shows here too.",
        unit: 's',
        width: THIRD,
        targets: [[max('instance', server('swaplock_ingest_lag_seconds')), '{{instance}}']],
      }),
    )
    .withPanel(
      lines({
        title: 'Commit time',
        description: 'Mean time that committing a batch of windows took.',
        unit: 's',
        width: THIRD,
        targets: [
          [
            ratio(
              counter('instance', 'swaplock_commit_seconds_sum'),
              counter('instance', 'swaplock_commit_seconds_count'),
            ),
            '{{instance}}',
          ],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Server CPU',
        description: 'CPUs that the server uses.',
        unit: 'none',
        width: THIRD,
        targets: [[counter('instance', 'process_cpu_seconds_total'), '{{instance}}']],
      }),
    )
    .withPanel(
      lines({
        title: 'Server memory',
        description: 'Resident memory of the server.',
        unit: 'bytes',
        targets: [
          [sum('instance', server('process_resident_memory_bytes')), '{{instance}}'],
        ],
      }),
    )
    .withPanel(
      lines({
        title: 'Open files',
        description: 'Open file descriptors, and how many may be open.',
        unit: 'short',
        targets: [
          [sum('instance', server('process_open_fds')), '{{instance}} open'],
          [sum('instance', server('process_max_fds')), '{{instance}} limit'],
        ],
      }),
    );
