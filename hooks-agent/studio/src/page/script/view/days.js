// What each day came to.

import { draw, h } from './dom.js';
import { compact, day, number } from './format.js';
import { bad, table } from './table.js';

/** A table of the days, the last one first, each with a bar of its runs; `price` is the column of the money. */
export function daysTable(days, price) {
  const most = Math.max(1, ...days.map((it) => it.runs));
  const runs = (size, { failed }) => [bar(size / most, failed / most), h('span.digits', {}, number(size))];
  const columns = [['Day', 'at', day, 'From midnight to midnight in UTC'], ['Runs', 'runs', runs],
    ['Failed', 'failed', bad], ['Tokens', 'tokens', compact], ...price];
  return table('By day', columns, [...days].reverse().map((it) => ({ ...it, name: it.at })));
}

const bar = (all, failed) => draw('svg', { class: 'of-day', viewBox: '0 0 1 1', preserveAspectRatio: 'none',
  'aria-hidden': 'true' }, draw('rect', { class: 'some', width: all, height: 1 }),
draw('rect', { class: 'bad', width: failed, height: 1 }));
