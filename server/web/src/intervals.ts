// Ratios with their intervals on a logarithmic axis, 1 being no difference.
import * as Plot from '@observablehq/plot';
import { STYLE, fitted, labelRoom } from './common.js';

export interface Interval {
  label: string;
  verdict: string;
  ratio: number;
  lower: number;
  upper: number | null; // null: no bound
  link?: string;
}

const COLORS: Record<string, string> = {
  regression: '#d55e00',
  improvement: '#009e73',
};
// Up to here a difference is none that matters.
const MARGIN = 1.1;

export function drawIntervals(intervals: Interval[], width: number) {
  const lowest = Math.min(0.5, ...intervals.map(({ lower }) => lower));
  const highest = Math.max(
    2,
    ...intervals.map(({ ratio, upper }) => upper ?? ratio * 4),
  );
  const room = labelRoom(
    intervals.map(({ label }) => label),
    width,
  );
  const color = ({ verdict }: Interval) => COLORS[verdict] ?? '#888888';
  return Plot.plot({
    width,
    height: intervals.length * 26 + 60,
    marginLeft: room,
    marginRight: 20,
    marginBottom: 45,
    style: STYLE,
    ariaLabel: 'ratios of the new kernel over the base, with intervals',
    x: {
      type: 'log',
      domain: [lowest, highest],
      label: 'new over base',
      tickFormat: (ratio: number) => `${ratio}x`,
      grid: true,
    },
    y: {
      label: null,
      domain: intervals.map((_, i) => String(i)),
      tickFormat: (i: string) => fitted(intervals[Number(i)].label, room),
      tickSize: 0,
    },
    marks: [
      Plot.rectX([null], {
        x1: 1 / MARGIN,
        x2: MARGIN,
        fill: 'currentColor',
        fillOpacity: 0.1,
      }),
      Plot.ruleX([1], { stroke: 'currentColor' }),
      Plot.ruleY(intervals, {
        y: (_: Interval, i: number) => String(i),
        x1: 'lower',
        x2: (interval: Interval) => interval.upper ?? highest,
        stroke: color,
        strokeWidth: 2,
      }),
      Plot.dot(intervals, {
        y: (_: Interval, i: number) => String(i),
        x: 'ratio',
        fill: color,
        r: 5,
        href: 'link',
        title: (interval: Interval) =>
          `${interval.label}: ${interval.verdict}, ${interval.ratio.toPrecision(3)} (${interval.lower.toPrecision(3)} to ${interval.upper?.toPrecision(3) ?? 'no bound'})`,
      }),
    ],
  });
}
