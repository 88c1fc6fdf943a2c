// Runs and failures over time, as a drawing.

import { draw, h } from './dom.js';
import { count, number } from './format.js';

const [WIDTH, HEIGHT] = [960, 72];

/** A bar for each step of the time, which `when` names: those that failed below the others. */
export function chart(since, until, steps, when) {
  const most = Math.max(1, ...steps.map((it) => it.runs));
  const span = Math.max(1, until - since);
  const step = Math.min(span, ...steps.slice(1).map((it, at) => it.at - steps[at].at));
  const width = Math.max(2, step / span * WIDTH - 3);
  const bar = (it, kind, from, value) => value > 0 && draw('rect', { class: kind, width,
    x: Math.max(0, (it.at - since) / span) * WIDTH, height: value / most * HEIGHT,
    y: HEIGHT - (from + value) / most * HEIGHT });
  const bars = steps.filter((it) => it.runs).map((it) => draw('g', {},
    draw('title', {}, `${when(it.at)}: ${told(it)}`), bar(it, 'space', 0, most),
    bar(it, 'some', it.failed, it.runs - it.failed), bar(it, 'bad', 0, it.failed)));
  return h('figure.chart', {},
    h('figcaption', {}, h('h2', {}, 'Runs over time'), h('span.key', {}, 'Runs'),
      h('span.key.bad', {}, 'Failed'), h('span.spacer'),
      bars.length > 0 && h('span.faint', {}, `At most ${number(most)} in ${minutes(step)}`)),
    draw('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img',
      'aria-label': inWords(steps, when) }, bars),
    h('div.ends', { 'aria-hidden': 'true' }, h('span', {}, when(since)),
      h('span', {}, when(since + span / 2)), h('span', {}, 'now')));
}

const told = ({ runs, failed }) => count(runs, 'run') + (failed ? `, ${number(failed)} failed` : '');

function minutes(ms) {
  const all = Math.max(1, Math.round(ms / 60_000));
  if (all >= 1440) return count(Math.round(all / 144) / 10, 'day');
  return all < 60 ? count(all, 'minute') : count(Math.round(all / 6) / 10, 'hour');
}

/** The drawing for those who do not see it: all runs, the most, and when runs failed last. */
function inWords(steps, when) {
  const sum = (key) => steps.reduce((all, it) => all + it[key], 0);
  if (!sum('runs')) return 'No runs in this time';
  const top = steps.reduce((one, other) => (other.runs > one.runs ? other : one));
  const bad = steps.filter((it) => it.failed).slice(-5).map((it) => `${it.failed} at ${when(it.at)}`);
  return `${told({ runs: sum('runs'), failed: sum('failed') })}. The most, ${top.runs}, at `
    + `${when(top.at)}.${bad.length ? ` Failed last: ${bad.join(', ')}.` : ''}`;
}
