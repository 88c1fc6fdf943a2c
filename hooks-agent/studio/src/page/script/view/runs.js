// The list of runs, with filters; the list of conversations is one too.

import { STATES } from './entry.js';
import { chosen, picksFor, settled, writePlace } from './place.js';
import { sees, state, titleOf } from './state.js';
import { button, field, fill, h, listHeading, moveAmong, say } from './dom.js';
import { capital, count, number, shown } from './format.js';
import { Older } from './older.js';
import { RunItems } from './run_items.js';
import { Search } from './search.js';

const QUICK = ['failed', 'waiting'];
/** Filters that a person types: of runs that have exactly this. */
const EXACT = ['user', 'thread'];

const options = (names) => names.map((name) => h('option', { value: name }, shown(name)));

export class RunList {
  constructor(side, name = 'Runs', items = new RunItems(name)) {
    Object.assign(this, { side, name, items, list: items.element });
    this.text = field(`Search ${name.toLowerCase()}`, { className: 'search', oninput: () => this.narrow() });
    this.agent = h('select', { ariaLabel: 'Agent', onchange: () => this.narrow() });
    this.state = h('select', { ariaLabel: 'State', onchange: () => this.narrow() },
      h('option', { value: '' }, 'All states'),
      Object.entries(STATES).map(([value, name]) => h('option', { value }, name)));
    this.quick = QUICK.map((name) => button('', () => this.choose(name), `.quick.${name}`));
    this.known = EXACT.map((name) => h('datalist', { id: `known-${name}` }));
    this.exact = EXACT.map((name, at) => field(capital(name), { list: `known-${name}`,
      onfocus: () => fill(this.known[at], options(this.names(name))), onchange: () => this.narrow() }));
    this.whose = h('summary');
    this.more = h('details', {}, this.whose, h('div.pair', {}, this.exact), this.known);
    this.hint = h('p.hint');
    this.empty = h('div.empty');
    this.note = h('p.count', { 'aria-live': 'polite' });
    this.search = new Search();
    this.older = new Older();
    this.beyond = [this.search.element, this.older.element];
    this.typed = settled(() => {
      writePlace();
      this.ask();
    });
  }

  show() {
    fill(this.side, listHeading(this.name), h('div.filters', {}, this.text, h('div.pair', {}, this.agent, this.state),
        this.more, h('div.quick-row', {}, this.quick)),
      this.hint, this.list, this.empty, this.note, this.beyond);
    this.draw();
  }

  take() {
    if (this.text.value.trim() !== chosen.q) this.text.value = chosen.q;
    if (!Object.hasOwn(STATES, chosen.state)) chosen.state = '';
    this.state.value = chosen.state;
    EXACT.forEach((name, at) => { this.exact[at].value = chosen[name]; });
    this.more.open ||= EXACT.some((name) => chosen[name]);
    this.agents = null;
    // Hits have the titles of runs.
    if (state.hasLoaded) this.ask();
    this.draw();
  }

  /** Looks for what is chosen beyond the list. */
  ask() {
    this.search.ask(chosen.q);
    this.older.take();
  }

  narrow() {
    const [user, thread] = this.exact.map((it) => it.value.trim());
    Object.assign(chosen, { q: this.text.value.trim(), agent: this.agent.value,
      state: this.state.value, user, thread });
    this.typed();
    this.draw();
  }

  choose(name) {
    this.state.value = chosen.state === name ? '' : name;
    this.narrow();
  }

  draw() {
    if (!this.list.isConnected) return;
    this.drawAgents();
    const [all, below] = this.all();
    const text = chosen.q.toLowerCase();
    const found = all.filter((it) => fits(it) && (!text || this.textOf(it).toLowerCase().includes(text)));
    this.items.draw(found, below);
    this.drawQuick(all);
    this.drawEmpty(all.length, found.length);
    this.older.draw();
    const first = picksFor();
    say(this.hint, first && `Choose a run to compare with: ${titleOf(state.runs.get(first) ?? { run: first })}`);
  }

  /** The runs that are below no other one, the newest first, and how many are below each. */
  all() {
    const [below, tops] = [new Map(), []];
    for (const run of state.runs.values()) {
      if (state.runs.has(run.parent)) below.set(run.parent, (below.get(run.parent) ?? 0) + 1);
      else tops.push(run);
    }
    return [tops.sort((one, other) => other.started - one.started || other.after - one.after), below];
  }

  textOf(run) {
    return [titleOf(run), run.agent, run.thread, run.run, run.user, run.error].join('\n');
  }

  /** What runs have, sorted: their agents, users or threads. */
  names(of, ...more) {
    const all = [...state.runs.values(), ...this.older.runs].map((it) => it[of]);
    return [...new Set([...all, ...more])].filter(Boolean).sort();
  }

  drawAgents() {
    const set = EXACT.filter((name) => chosen[name]).map((name) => `${capital(name)} ${shown(chosen[name])}`);
    say(this.whose, set.join(', ') || 'User and thread');
    const names = this.names('agent', chosen.agent, ...state.agents.map((it) => it.name));
    const key = names.join('\n');
    if (this.agents === key) return;
    this.agents = key;
    fill(this.agent, h('option', { value: '' }, 'All agents'), options(names));
    this.agent.value = chosen.agent;
  }

  drawQuick(tops) {
    QUICK.forEach((name, at) => {
      const made = this.quick[at];
      const size = tops.reduce((all, run) => all + (run.state === name), 0);
      say(made, `${STATES[name]} ${number(size)}`);
      made.hidden = !size && chosen.state !== name;
      made.ariaPressed = chosen.state === name;
    });
  }

  drawEmpty(all, found) {
    const [word, { hasHistory }] = [this.name.toLowerCase().slice(0, -1), state];
    fill(this.empty, !sees('runs') ? h('p', {}, 'Your roles do not let you see this.') : !found && (all ? [h('p', {}, `No ${hasHistory ? 'recent ' : ''}${word} fits the filter.`),
      h('p.muted', {}, 'Clear the text, or choose all agents and all states.')]
      : hasHistory ? h('p', {}, `No recent ${word}s.`)
      : [h('p', {}, `No ${word}s yet.`), h('p.muted.how', {}, 'Give an agent the hook of the studio, ',
        h('code', {}, '.hook(studio.hook())'), ', and call the agent. Its run appears here.')]));
    say(this.note, all ? `${found === all ? '' : `${found} of `}${count(all, word)}` : '');
  }

  mark() {
    for (const it of [this.items, this.older.items]) it.mark();
  }

  tick(now) {
    for (const it of [this.items, this.older.items]) it.tick(now);
  }

  move(by) {
    moveAmong(this.side, '.run, .hit', by);
  }
}

const fits = (run) => ['agent', 'state', ...EXACT].every((name) => !chosen[name] || run[name] === chosen[name]);
