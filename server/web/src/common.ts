// What charts share: how times are written, colours, the look.

// "820 us", as the tables have it.
export function time(ns: number): string {
  if (ns === 0) return '0';
  for (const [unit, size] of [
    ['s', 1e9],
    ['ms', 1e6],
    ['us', 1e3],
  ] as const) {
    if (ns >= size) return `${Number((ns / size).toPrecision(3))} ${unit}`;
  }
  return `${ns} ns`;
}

// Colours that people with any kind of colour vision tell apart, on white and on
// black (Okabe and Ito, 2008).
export const PART_COLORS: Record<string, string> = {
  'on CPU': '#009e73',
  'runnable, no CPU': '#d55e00',
  blocked: '#0072b2',
  unknown: '#999999',
  waited: '#cc79a7',
  'inversion': '#b00058',
  'ran instead': '#e69f00',
};
export const PALETTE = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#e69f00',
  '#56b4e9',
  '#8c6d31',
  '#7f7f7f',
];

export const STYLE = { background: 'none', color: 'inherit', fontSize: '12px' };

// Room for labels of this many characters at most, longer ones are cut.
export function labelRoom(labels: string[], width: number): number {
  const longest = Math.max(0, ...labels.map((label) => label.length));
  return Math.min(longest * 7 + 12, Math.floor(width * 0.5));
}
export function fitted(label: string, room: number): string {
  const most = Math.max(4, Math.floor((room - 12) / 7));
  return label.length <= most ? label : `${label.slice(0, most - 1)}…`;
}
