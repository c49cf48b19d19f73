// The longest holds over the last day; each leads to its own page.
import * as Plot from '@observablehq/plot';
import { PALETTE, STYLE, time } from './common.js';

export interface LongHold {
  at_ms: number; // since 1970 UTC
  hold_ns: number;
  runnable_share: number | null; // null: not known
  group: string; // kernel and operation
  holder: string;
  link: string;
}

const MINUTE_MS = 60e3;

export function drawLongest(holds: LongHold[], width: number) {
  const times = holds.map(({ at_ms }) => at_ms);
  const last = Math.max(...times) + MINUTE_MS;
  const first = Math.min(...times, last - 60 * MINUTE_MS) - MINUTE_MS;
  const lengths = holds.map(({ hold_ns }) => hold_ns);
  return Plot.plot({
    width,
    height: 300,
    marginLeft: 70,
    style: STYLE,
    ariaLabel: 'the longest holds over time',
    x: {
      type: 'utc',
      domain: [new Date(first), new Date(last)],
      label: 'UTC',
      grid: true,
    },
    y: {
      type: 'log',
      // A decade at least.
      domain: [Math.min(...lengths) / 3, Math.max(...lengths) * 3],
      label: null,
      ticks: Math.max(2, width / 150),
      tickFormat: time,
      grid: true,
    },
    color: { range: PALETTE, legend: true },
    marks: [
      Plot.dot(holds, {
        x: (hold: LongHold) => new Date(hold.at_ms),
        y: 'hold_ns',
        stroke: 'group',
        fill: 'group',
        fillOpacity: (hold: LongHold) => hold.runnable_share ?? 0,
        r: 5,
        href: 'link',
        title: (hold: LongHold) =>
          `${hold.holder}\n${time(hold.hold_ns)}, ${hold.group}\n${
            hold.runnable_share === null
              ? 'parts not known'
              : `${Math.round(hold.runnable_share * 100)} % runnable without a CPU`
          }`,
      }),
    ],
  });
}
