// PromQL that more than one panel needs.
//
// Every selector carries the variables of its dashboard, counters stand only
// under rate(): tests/dashboards holds the result to both.

export type Matcher = string; // 'le="0.01"'

const SERVER: Matcher[] = ['job=~"$job"', 'instance=~"$instance"'];

const select = (name: string, matchers: Matcher[]) =>
  `${name}{${matchers.join(', ')}}`;

// A series that belongs to a server and to no cell.
export const server = (name: string, ...more: Matcher[]) =>
  select(name, [...SERVER, ...more]);

export const rate = (selector: string) => `rate(${selector}[$__rate_interval])`;
export const sum = (by: string, expr: string) =>
  by === '' ? `sum(${expr})` : `sum by (${by}) (${expr})`;
export const max = (by: string, expr: string) =>
  by === '' ? `max(${expr})` : `max by (${by}) (${expr})`;

// a / b where b is not 0.
export const ratio = (a: string, b: string) => `${a} / (${b} > 0)`;

// Waits of hosts that count acquisitions too, and acquisitions of hosts that
// see waits: nothing else may be divided.
const COUNTED: Matcher = 'tier=~"exact|bracket"';

// The cells that a dashboard, or one panel of it, is about.
export class Cells {
  private readonly matchers: Matcher[];

  constructor(...matchers: Matcher[]) {
    this.matchers = [...SERVER, ...matchers];
  }

  only(...more: Matcher[]): Cells {
    const cells = new Cells();
    cells.matchers.length = 0;
    cells.matchers.push(...this.matchers, ...more);
    return cells;
  }

  series(name: string, ...more: Matcher[]) {
    return select(name, [...this.matchers, ...more]);
  }

  rate(name: string, ...more: Matcher[]) {
    return rate(this.series(name, ...more));
  }

  quantile(q: number, by: string, histogram: string) {
    return `histogram_quantile(${q}, ${sum(
      by === '' ? 'le' : `${by}, le`,
      this.rate(`${histogram}_bucket`),
    )})`;
  }

  // Events over an edge of the histogram, exact: both counts are.
  private over(by: string, histogram: string, le: string, ...more: Matcher[]) {
    const all = sum(by, this.rate(`${histogram}_count`, ...more));
    const below = sum(by, this.rate(`${histogram}_bucket`, ...more, `le="${le}"`));
    return `clamp_min(${all} - ${below}, 0)`;
  }

  // Of a million of the same histogram's.
  overPerMillion(by: string, histogram: string, le: string) {
    return `1e6 * ${ratio(
      this.over(by, histogram, le),
      sum(by, this.rate(`${histogram}_count`)),
    )}`;
  }

  mean(by: string, histogram: string) {
    return ratio(
      sum(by, this.rate(`${histogram}_sum`)),
      sum(by, this.rate(`${histogram}_count`)),
    );
  }

  // An operation takes each of its locks about once, so operations are the
  // acquisitions of the role that was taken most often.
  operations(by: string) {
    return max(by, sum(`${by}, role`, this.rate('swaplock_acquisitions_total')));
  }

  private waitable() {
    return (
      `${this.rate('swaplock_acquisitions_total')} and ` +
      this.rate('swaplock_contended_total')
    );
  }

  contendedShare(by: string) {
    return ratio(
      sum(by, this.rate('swaplock_contended_total', COUNTED)),
      sum(by, this.waitable()),
    );
  }

  waitsOver10msPerMillionOperations(by: string) {
    return `1e6 * ${ratio(
      this.over(by, 'swaplock_wait_seconds', '0.01', COUNTED),
      max(by, sum(`${by}, role`, this.waitable())),
    )}`;
  }

  runnableShare(by: string) {
    return ratio(
      sum(by, this.rate('swaplock_hold_runnable_seconds_sum')),
      sum(by, this.rate('swaplock_hold_seconds_sum')),
    );
  }

  // Lock-seconds per second, by what holders do: the parts of all hold time.
  holdParts(): [expr: string, legend: string][] {
    return [
      [sum('', this.rate('swaplock_hold_on_cpu_seconds_total')), 'on CPU'],
      [
        sum('', this.rate('swaplock_hold_runnable_seconds_sum')),
        'runnable, no CPU',
      ],
      [sum('', this.rate('swaplock_hold_blocked_seconds_total')), 'blocked'],
      [sum('', this.rate('swaplock_hold_unknown_seconds_total')), 'unknown'],
    ];
  }

  // The parts of the runnable part.
  runnableParts(): [expr: string, legend: string][] {
    const preempted = sum('', this.rate('swaplock_hold_preempted_seconds_total'));
    const throttled = sum('', this.rate('swaplock_hold_throttled_seconds_total'));
    const woken = sum('', this.rate('swaplock_hold_woken_seconds_total'));
    const all = sum('', this.rate('swaplock_hold_runnable_seconds_sum'));
    return [
      [`clamp_min(${preempted} - ${throttled}, 0)`, 'preempted'],
      [throttled, 'throttled by cpu.max'],
      [woken, 'woken, waiting for a CPU'],
      [`clamp_min(${all} - ${preempted} - ${woken}, 0)`, 'not seen'],
    ];
  }
}

// The cells that the variables of most dashboards choose.
export const CHOSEN = new Cells('kernel=~"$kernel"', 'subsystem=~"$subsystem"');

const VERDICT = 'kernel_base, kernel_new, subsystem, op, outcome';

// The current verdicts, and a number of theirs beside the verdict's name.
export const verdicts = (...more: Matcher[]) =>
  max(`${VERDICT}, verdict`, server('swaplock_verdict', ...more));
export const ofVerdicts = (name: string, ...more: Matcher[]) =>
  max(
    `${VERDICT}, verdict`,
    `${server(name, ...more)} * on (job, instance, ${VERDICT}) ` +
      `group_left (verdict) ${server('swaplock_verdict', ...more)}`,
  );
