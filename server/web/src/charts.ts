// Draws the charts of the server's pages. A chart is a <figure data-chart="KIND">
// with its data as JSON inside; the numbers also stand in a table or a list, so
// a page without scripts says the same.
//
// Nothing is fetched. Texts of hosts become text nodes and attributes only.
import { type Hold, drawHold } from './hold.js';
import { type Bucket, drawHeat } from './heat.js';
import { type Interval, drawIntervals } from './intervals.js';
import { type LongHold, drawLongest } from './longest.js';
import { type Parts, drawParts } from './parts.js';

export type Drawing = SVGSVGElement | HTMLElement;

const KINDS: Record<string, (data: any, width: number) => Drawing> = {
  hold: (data: Hold, width) => drawHold(data, width),
  heat: (data: Bucket[], width) => drawHeat(data, width),
  intervals: (data: Interval[], width) => drawIntervals(data, width),
  longest: (data: LongHold[], width) => drawLongest(data, width),
  parts: (data: Parts[], width) => drawParts(data, width),
};

// A chart is one picture with a name, unless parts of it are links. What its
// groups are called is of use to nobody, and no name that groups may have.
function describe(drawing: Drawing) {
  for (const group of drawing.querySelectorAll('g[aria-label]')) {
    group.removeAttribute('aria-label');
  }
  const pictures =
    drawing instanceof SVGSVGElement
      ? [drawing]
      : drawing.querySelectorAll<SVGSVGElement>('svg[aria-label]');
  for (const picture of pictures) {
    if (picture.querySelector('a') === null) picture.setAttribute('role', 'img');
  }
  return drawing;
}

// Draws anew when the figure's width changes, as when a phone is turned.
function show(figure: HTMLElement) {
  const draw = KINDS[figure.dataset.chart ?? ''];
  const source = figure.querySelector('script[type="application/json"]');
  if (draw === undefined || source === null) return;
  const data = JSON.parse(source.textContent ?? 'null');
  const place = document.createElement('div');
  place.className = 'drawing';
  figure.append(place);
  let drawn = 0;
  const redraw = () => {
    const width = Math.floor(place.clientWidth);
    if (width === drawn || width < 50) return;
    drawn = width;
    place.replaceChildren(describe(draw(data, width)));
  };
  new ResizeObserver(redraw).observe(place);
  redraw();
}

document.querySelectorAll<HTMLElement>('figure[data-chart]').forEach(show);
