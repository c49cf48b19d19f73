// What holders did, as shares of all hold time.
import * as Plot from '@observablehq/plot';
import { PART_COLORS, STYLE, fitted, labelRoom, time } from './common.js';

export interface Parts {
  label: string; // kernel, operation, lock
  part: string;
  ns: number;
}

const ORDER = ['on CPU', 'runnable, no CPU', 'blocked', 'unknown'];

export function drawParts(parts: Parts[], width: number) {
  const labels = [...new Set(parts.map(({ label }) => label))];
  const room = labelRoom(labels, width);
  return Plot.plot({
    width,
    height: labels.length * 26 + 70,
    marginLeft: room,
    marginRight: 20,
    marginBottom: 45,
    style: STYLE,
    ariaLabel: 'hold time by what the holder did',
    x: { label: 'share of hold time', percent: true },
    y: {
      label: null,
      domain: labels,
      tickFormat: (label: string) => fitted(label, room),
      tickSize: 0,
    },
    color: {
      domain: ORDER,
      range: ORDER.map((part) => PART_COLORS[part]),
      legend: true,
    },
    marks: [
      Plot.barX(
        parts,
        Plot.stackX(
          { offset: 'normalize', order: ORDER },
          {
            x: 'ns',
            y: 'label',
            fill: 'part',
            title: ({ label, part, ns }: Parts) => `${label}\n${part}: ${time(ns)}`,
            insetTop: 3,
            insetBottom: 3,
          },
        ),
      ),
    ],
  });
}
