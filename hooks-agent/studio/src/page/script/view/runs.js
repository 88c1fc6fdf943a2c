// The list of runs, with filters.

import { STATES } from './entry.js';
import { state, titleOf } from './state.js';
import { fill, h, say } from './dom.js';
import { ago, compact, count, duration, shown } from './format.js';

export class RunList {
  constructor(side) {
    this.side = side;
    this.filter = { text: '', agent: '', state: '' };
    this.items = new Map();
    this.text = h('input.search', { type: 'search', placeholder: 'Filter runs', 'aria-label':
      'Filter runs by text', autocomplete: 'off', spellcheck: false, oninput: () => this.narrow() });
    this.agent = h('select', { 'aria-label': 'Agent', onchange: () => this.narrow() });
    this.state = h('select', { 'aria-label': 'State', onchange: () => this.narrow() },
      h('option', { value: '' }, 'All states'),
      Object.entries(STATES).map(([value, name]) => h('option', { value }, name)));
    this.list = h('ul.runs', { 'aria-label': 'Runs' });
    this.empty = h('div.empty');
    this.note = h('p.count', { 'aria-live': 'polite' });
  }

  show() {
    fill(this.side,
      h('div.filters', {}, this.text, h('div.pair', {}, this.agent, this.state)),
      h('h2.unseen', {}, 'Runs'), this.list, this.empty, this.note);
    this.draw();
  }

  narrow() {
    this.filter = { text: this.text.value.trim().toLowerCase(), agent: this.agent.value,
      state: this.state.value };
    this.draw();
  }

  draw() {
    if (!this.list.isConnected) return;
    this.drawAgents();
    const below = new Map();
    for (const run of state.runs.values()) {
      if (run.parent && state.runs.has(run.parent)) {
        below.set(run.parent, (below.get(run.parent) ?? 0) + 1);
      }
    }
    const tops = [...state.runs.values()].filter((run) => !run.parent || !state.runs.has(run.parent));
    tops.sort((one, other) => other.started - one.started || other.after - one.after);
    const found = tops.filter((run) => this.fits(run));
    this.place(found, below);
    this.drawEmpty(tops.length, found.length);
    this.mark();
  }

  drawAgents() {
    const names = [...new Set([...state.runs.values()].map((run) => run.agent))].sort();
    const key = names.join('\n');
    if (this.names === key) return;
    this.names = key;
    fill(this.agent, h('option', { value: '' }, 'All agents'),
      names.map((name) => h('option', { value: name }, shown(name))));
    this.agent.value = names.includes(this.filter.agent) ? this.filter.agent : '';
    this.filter.agent = this.agent.value;
  }

  fits(run) {
    const { text, agent, state: wanted } = this.filter;
    if (agent && run.agent !== agent) return false;
    if (wanted && run.state !== wanted) return false;
    if (!text) return true;
    const all = `${titleOf(run)}\n${run.agent}\n${run.thread}\n${run.run}\n${run.error ?? ''}`;
    return all.toLowerCase().includes(text);
  }

  place(runs, below) {
    const kept = new Set(runs.map((run) => run.run));
    for (const [key, item] of this.items) {
      if (kept.has(key)) continue;
      item.element.remove();
      this.items.delete(key);
    }
    let at = this.list.firstChild;
    for (const run of runs) {
      let item = this.items.get(run.run);
      if (!item) this.items.set(run.run, item = makeItem(run));
      drawItem(item, run, below.get(run.run) ?? 0);
      if (item.element === at) at = at.nextSibling;
      else this.list.insertBefore(item.element, at);
    }
  }

  drawEmpty(all, found) {
    if (found) {
      fill(this.empty);
    } else if (all) {
      fill(this.empty, h('p', {}, 'No run fits the filter.'),
        h('p.muted', {}, 'Clear the text, or choose all agents and all states.'));
    } else {
      fill(this.empty, h('p', {}, 'No runs yet.'),
        h('p.muted', {}, 'Give an agent the hook of the studio, ', h('code', {}, '.hook(studio.hook())'),
          ', and call the agent. Its run appears here.'));
    }
    say(this.note, all ? `${found === all ? '' : `${found} of `}${count(all, 'run')}` : '');
  }

  /** Marks the run that is open. */
  mark() {
    const open = state.open?.id;
    for (const [key, { link }] of this.items) {
      if (key === open) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  }

  /** Brings the ages up to date. */
  tick(now) {
    for (const item of this.items.values()) drawAge(item, now);
  }

  /** Moves the focus by so many runs. */
  move(by) {
    const links = [...this.list.querySelectorAll('a')];
    const focused = links.indexOf(document.activeElement);
    const current = focused >= 0 ? focused : links.findIndex((it) => it.hasAttribute('aria-current'));
    const next = current < 0 ? 0 : Math.min(links.length - 1, Math.max(0, current + by));
    links[next]?.focus();
    links[next]?.scrollIntoView({ block: 'nearest' });
  }
}

function makeItem(run) {
  const parts = {
    dot: h('span.dot', { role: 'img' }),
    title: h('span.title'),
    age: h('span.age'),
    who: h('span.who'),
    more: h('span.more'),
  };
  const link = h('a.run', { href: `#/run/${encodeURIComponent(run.run)}` }, parts.dot,
    h('span.pair', {}, parts.title, parts.age), h('span.pair.second', {}, parts.who, parts.more));
  return { ...parts, link, element: h('li', { data: { run: run.run } }, link), run };
}

function drawItem(item, run, below) {
  item.run = run;
  item.dot.className = `dot ${run.state}`;
  item.dot.setAttribute('aria-label', STATES[run.state] ?? run.state);
  item.dot.title = STATES[run.state] ?? run.state;
  say(item.title, titleOf(run));
  say(item.who, `${shown(run.agent)} · ${shown(run.thread)}`);
  const tokens = (run.input_tokens ?? 0) + (run.output_tokens ?? 0);
  const parts = [];
  if (run.error) parts.push(`${shown(run.error)} error`);
  if (below) parts.push(count(below, 'sub-agent'));
  if (tokens) parts.push(`${compact(tokens)} tok`);
  say(item.more, parts.join(' · '));
  drawAge(item, Date.now());
}

function drawAge({ age, run }, now) {
  if (run.state === 'running') {
    say(age, duration(Math.floor((now - run.started) / 1000) * 1000).replace('.0 s', ' s')
      .replace('0 ms', '0 s'));
  } else {
    say(age, ago(run.ended ?? run.started, now));
  }
  age.title = run.state === 'running' ? 'running for' : 'ended so long ago';
}
