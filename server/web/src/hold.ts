// One hold: what its holder did, who ran instead, who waited.
//
// The agent knows how long each part was, not when: parts are drawn one after
// the other, not in the order in which they happened.
import * as Plot from '@observablehq/plot';
import { PART_COLORS, STYLE, fitted, labelRoom, time } from './common.js';

interface Actor {
  name: string;
  ns: number;
  inversion?: boolean;
}

export interface Hold {
  holder: string;
  waited_ns: number;
  hold_ns: number;
  parts: { part: string; ns: number }[]; // they make up hold_ns
  preemptors: Actor[];
  waiters: Actor[];
}

interface Bar {
  row: string;
  from: number;
  to: number;
  what: string;
  title: string;
}

export function drawHold(hold: Hold, width: number) {
  const bars: Bar[] = [];
  const rows: string[] = [];
  // Rows are told apart by number: two tasks may have one name.
  const row = (name: string) => {
    rows.push(name);
    return String(rows.length - 1);
  };
  const holder = row(`holder: ${hold.holder}`);
  if (hold.waited_ns > 0) {
    bars.push({
      row: holder,
      from: -hold.waited_ns,
      to: 0,
      what: 'waited',
      title: `waited ${time(hold.waited_ns)} for the lock`,
    });
  }
  let at = 0;
  for (const { part, ns } of hold.parts) {
    if (ns === 0) continue;
    bars.push({
      row: holder,
      from: at,
      to: at + ns,
      what: part,
      title: `${part}: ${time(ns)}`,
    });
    at += ns;
  }
  // From where the holder was runnable.
  const onCpu = hold.parts.find(({ part }) => part === 'on CPU')?.ns ?? 0;
  let ran = onCpu;
  for (const { name, ns } of hold.preemptors) {
    bars.push({
      row: row(`ran instead: ${name}`),
      from: ran,
      to: ran + ns,
      what: 'ran instead',
      title: `${name} ran for ${time(ns)}`,
    });
    ran += ns;
  }
  for (const { name, ns, inversion } of hold.waiters) {
    bars.push({
      row: row(`waiter: ${name}`),
      from: hold.hold_ns - ns,
      to: hold.hold_ns,
      what: inversion ? 'inversion' : 'waited',
      title: `${name} waited ${time(ns)}${inversion ? ', a priority inversion' : ''}`,
    });
  }
  const room = labelRoom(rows, width);
  return Plot.plot({
    width,
    height: rows.length * 30 + 70,
    marginLeft: room,
    marginRight: 30,
    marginBottom: 45,
    style: STYLE,
    ariaLabel: `${hold.holder} held the lock for ${time(hold.hold_ns)}`,
    x: { label: 'since it was taken', tickFormat: signed, grid: true },
    y: {
      label: null,
      domain: rows.map((_, i) => String(i)),
      tickFormat: (i: string) => fitted(rows[Number(i)], room),
      tickSize: 0,
    },
    color: {
      domain: Object.keys(PART_COLORS).filter((what) =>
        bars.some((bar) => bar.what === what),
      ),
      range: Object.entries(PART_COLORS)
        .filter(([what]) => bars.some((bar) => bar.what === what))
        .map(([, color]) => color),
      legend: true,
    },
    marks: [
      Plot.barX(bars, {
        x1: 'from',
        x2: 'to',
        y: 'row',
        fill: 'what',
        title: 'title',
        inset: 3,
        insetLeft: 0,
        insetRight: 0,
      }),
      Plot.ruleX([0, hold.hold_ns], { stroke: 'currentColor' }),
    ],
  });
}

const signed = (ns: number) => (ns < 0 ? `-${time(-ns)}` : time(ns));
