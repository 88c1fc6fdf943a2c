// Runs as the items of a list.

import { STATES } from './entry.js';
import { compareLink, picksFor, runLink } from './place.js';
import { state, titleOf } from './state.js';
import { arrange, h, say } from './dom.js';
import { ago, compact, count, date, shown, wholeSeconds } from './format.js';

export class RunItems {
  constructor(label) {
    this.element = h('ul.runs', { ariaLabel: label });
    this.items = new Map();
  }

  /** Shows these runs, with how many are `below` each, and keeps the elements of those that were there. */
  draw(runs, below = new Map()) {
    const before = this.items;
    this.items = new Map(runs.map((it) => [this.keyOf(it), before.get(this.keyOf(it)) ?? makeItem()]));
    for (const it of runs) {
      const item = this.items.get(this.keyOf(it));
      item.link.href = this.linkOf(it);
      this.write(item, it, below.get(it.run) ?? 0);
    }
    arrange(this.element, [...this.items.values()].map((it) => it.element));
    this.mark();
  }

  keyOf(run) {
    return run.run;
  }

  linkOf({ run }) {
    const first = picksFor();
    return first ? compareLink(first, run) : runLink(run);
  }

  write(item, run, more) {
    // A title may be that of another run.
    if (item.run !== run || item.below !== more || !run.title) drawItem(item, run, more);
  }

  mark(open = state.open?.id ?? picksFor()) {
    for (const [key, { link }] of this.items) link.ariaCurrent = key === open ? 'true' : null;
  }

  tick(now) {
    for (const item of this.items.values()) if (item.run) drawAge(item, now);
  }
}

function makeItem() {
  const [title, age, who, more] = ['title', 'age', 'who', 'more'].map((it) => h(`span.${it}`));
  const dot = h('span.dot', { role: 'img' });
  const link = h('a.run', {}, dot, h('span.pair', {}, title, age),
    h('span.pair.second', {}, who, more));
  return { dot, title, age, who, more, link, element: h('li', {}, link) };
}

function drawItem(item, run, below) {
  item.below = below;
  drawState(item, run);
  say(item.title, titleOf(run));
  say(item.who, `${shown(run.agent)} · ${shown(run.thread)}`);
  const tokens = (run.input_tokens ?? 0) + (run.output_tokens ?? 0);
  const isUsual = run.error || ['running', 'finished'].includes(run.state);
  say(item.more, [run.error ? `${shown(run.error)} error` : !isUsual && STATES[run.state],
    below && count(below, 'sub-agent'), tokens && `${compact(tokens)} tok`].filter(Boolean).join(' · '));
}

/** Draws how the run of an item stands, and since when. */
export function drawState(item, run) {
  item.run = run;
  item.dot.className = `dot ${run.state}`;
  item.dot.ariaLabel = item.dot.title = STATES[run.state] ?? run.state;
  item.age.title = run.state === 'running' ? 'running for' : `ended ${date(run.ended ?? run.started)}`;
  drawAge(item, Date.now());
}

function drawAge({ age, run }, now) {
  say(age, run.state === 'running' ? wholeSeconds(now - run.started) : ago(run.ended ?? run.started, now));
}
