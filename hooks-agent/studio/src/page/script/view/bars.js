// The bars of a row in the time of its run.

import { h } from './dom.js';
import { clock, duration } from './format.js';

const WORDS = { round: 'Round', call: 'Model', tool: 'Tool', hook: 'Hook', run: 'Sub-agent',
  wait: 'Waits for people' };

const percent = (part) => `${(part * 100).toFixed(2)}%`;
const within = (part) => Math.min(1, Math.max(0, part));

export function drawBars(cell, spans, { from, to }, now) {
  while (cell.childElementCount > spans.length) cell.lastChild.remove();
  while (cell.childElementCount < spans.length) cell.append(h('i'));
  const at = (time) => (time - from) / (to - from);
  spans.forEach((span, index) => drawBar(cell.children[index], span, at, now));
}

function drawBar(bar, { kind, from, first, to, note, isWaiting }, at, now) {
  const [begin, end] = [at(from), at(to ?? now)];
  bar.hidden = end < 0 || begin > 1;
  if (bar.hidden) return;
  const [left, right] = [within(begin), within(end)];
  bar.style.left = percent(left);
  bar.style.width = percent(right - left);
  // Until the first token it is lighter.
  const light = isWaiting ? 1 : first ? within((at(first) - left) / (right - left || 1)) : 0;
  if (kind === 'call') bar.style.setProperty('--first', percent(light));
  bar.className = [`b-${kind}`, to === null && 'is-open', note && 'is-failed', right > 0.8 && 'is-late',
    end > 1 && 'goes-on'].filter(Boolean).join(' ');
  if (note) bar.dataset.note = note;
  else delete bar.dataset.note;
}

export function timesOf(spans, begin, now) {
  return spans.map(({ kind, from, first, to, note }) => {
    const parts = [`${WORDS[kind]}: ${duration((to ?? now) - from)}${to === null ? ' so far' : ''}`,
      `from ${duration(from - begin)} on, at ${clock(from)}`];
    if (first) parts.push(`first token after ${duration(first - from)}`);
    if (note) parts.push(note);
    return parts.join(', ');
  }).join('\n');
}
