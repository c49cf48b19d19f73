// Histograms side by side: a column per kernel, a cell per bucket, darker where
// more of the kernel's events fall.
import * as Plot from '@observablehq/plot';
import { STYLE, time } from './common.js';

export interface Bucket {
  group: string; // a kernel
  from_ns: number;
  to_ns: number;
  count: number;
  share: number; // of the group's events
}

// Plot hands these to the legend, whose first label is else cut off; its types
// do not know it.
const LEGEND = { marginLeft: 25, width: 265 };
// The lower edge of the first bucket is 0, which has no place on a logarithmic
// axis.
const LOWEST_NS = 256;

export function drawHeat(buckets: Bucket[], width: number) {
  const groups = [...new Set(buckets.map(({ group }) => group))];
  const drawn = buckets.filter(({ count }) => count > 0);
  const lowest = Math.min(
    ...drawn.map(({ from_ns }) => Math.max(from_ns, LOWEST_NS)),
  );
  const highest = Math.max(...drawn.map(({ to_ns }) => to_ns));
  const inside = (ns: number) => ns >= lowest && ns <= highest;
  return Plot.plot({
    width,
    height: 340,
    marginLeft: 70,
    marginBottom: 40,
    style: STYLE,
    ariaLabel: `distributions of ${groups.join(', ')}`,
    x: { label: null, domain: groups },
    y: {
      type: 'log',
      label: null,
      tickFormat: time,
      domain: [lowest, highest],
      ticks: [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11].filter(inside),
      grid: true,
    },
    color: {
      type: 'log',
      scheme: 'YlOrRd',
      domain: [1e-6, 1],
      clamp: true,
      label: 'share of events',
      legend: true,
      ...LEGEND,
      ticks: [1e-6, 1e-4, 1e-2, 1],
      tickFormat: (share: number) => `${Number((share * 100).toPrecision(1))}%`,
    },
    marks: [
      Plot.barY(drawn, {
        x: 'group',
        y1: (bucket: Bucket) => Math.max(bucket.from_ns, LOWEST_NS),
        y2: 'to_ns',
        fill: 'share',
        title: (bucket: Bucket) =>
          `${bucket.group}\n${time(bucket.from_ns)} to ${time(bucket.to_ns)}: ${bucket.count} (${Number((bucket.share * 100).toPrecision(3))} %)`,
        insetLeft: 1,
        insetRight: 1,
      }),
      Plot.ruleY([1e6, 1e7, 1e8].filter(inside), {
        stroke: 'currentColor',
        strokeDasharray: '2,4',
        strokeOpacity: 0.6,
      }),
    ],
  });
}
