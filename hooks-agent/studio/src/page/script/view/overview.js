// The first view: what runs, what failed, what it took.

import { numbers, rangeOf, ranges } from './numbers.js';
import { addressOf, chosen } from './place.js';
import { sees, state } from './state.js';
import { chart } from './chart.js';
import { daysTable } from './days.js';
import { fact, fill, h, morph } from './dom.js';
import { STATES } from './entry.js';
import { capital, compact, count, day, hour, money, number, shown } from './format.js';
import { bad, some, table, times, took, tookMicros } from './table.js';

const FIRST = ['running', 'waiting', 'failed', 'finished'];
const REST = ['panicked', 'interrupted', 'cancelled', 'resumed'];
/** How many rows of users and of hooks there are. */
const MOST = 8;
const DAY = 86_400_000;
/** From how many days on the drawing has a bar for each. */
const MANY_DAYS = 10;
/** Where the numbers come from, if there is a choice. */
const SOURCES = { store: 'from the store', ring: 'from the runs in memory' };

const timed = (path, choices) => addressOf(path, { since: rangeOf(), ...choices });
const filter = (choices, text) => h('a.link', { href: timed('/', choices) }, text);

/** The choice of the time, which keeps the others. */
export function rangeLinks() {
  const { view } = document.body.dataset;
  return h('nav.ranges', { ariaLabel: 'Time' }, ranges().map(([since, name]) => h('a', {
    href: addressOf(view === 'runs' ? '/' : `/${view}`, { ...chosen, since }),
    'aria-current': since === rangeOf() ? 'true' : null,
  }, name)));
}

export class Overview {
  constructor(main) {
    this.main = main;
    this.element = h('div.overview');
  }

  show() {
    fill(this.main, this.element);
    this.draw();
  }

  draw() {
    if (!this.element.isConnected) return;
    const isEmpty = state.hasLoaded && !state.runs.size && !state.hasHistory && sees('runs');
    const body = state.error ? problem(state.error) : isEmpty ? beginning() : counted();
    morph(this.element, h('div.overview', {}, h('header.run-head', {}, h('div.run-title', {},
      h('h1', {}, 'Overview'), source(), h('span.spacer'), !state.error && !isEmpty && rangeLinks())), body));
  }
}

const source = () => state.hasHistory && numbers.value
  && h('span.faint', {}, SOURCES[numbers.value.source] ?? '');

const problem = (error) => h('p.plain.problem', {}, whyNone(error));

export function whyNone(error) {
  return error.status === 401
    ? 'This page has no access. Open the address with the token, which the program printed.'
    : shown(error.message);
}

function beginning() {
  return h('div.plain', {}, h('p', {}, 'Give an agent the hook of the studio, and call the agent. ',
    'Its runs appear here while they go on, with what its model, its tools and its hooks do.'),
  h('pre.code', {}, '.hook(studio.hook())'));
}

function counted() {
  const { value, error, range } = numbers;
  if (error) return problem(error);
  if (!value) return h('p.plain.missing', {}, 'Counting.');
  return [tiles(value.runs), facts(value), h('div.parts', {}, drawing(value, range), tables(value)),
    h('p.plain.faint.keys', {}, h('kbd', {}, 'j'), ' and ', h('kbd', {}, 'k'),
      ' move through the runs, ', h('kbd', {}, '?'), ' shows all keys.')];
}

function drawing({ since, until, by_time: steps, days = [] }, range) {
  const when = (at) => hour(at, !['hour', 'day'].includes(range));
  if (days.length < MANY_DAYS) return chart(since, until, steps, when);
  return chart(days[0].at, days.at(-1).at + DAY, days, day);
}

function tiles(runs) {
  return h('ul.tiles', { ariaLabel: 'Runs by state' }, FIRST.map((name) => {
    const isOn = chosen.state === name;
    return h('li', {}, h(`a.tile.${name}${runs[name] ? '' : '.none'}`, {
      href: timed('/', { state: isOn ? '' : name }), 'aria-current': isOn ? 'true' : null },
    h('span.value', {}, number(runs[name])), ' ',
    h('span.name', {}, h(`span.dot.${name}`), STATES[name])));
  }));
}

const hasPrice = (cost) => typeof cost === 'number';

function facts({ runs, calls, tokens, cost }) {
  const cached = tokens.cache_read ? `, ${compact(tokens.cache_read)} cached` : '';
  const unpriced = cost?.unpriced ? `, ${count(cost.unpriced, 'call')} without a price` : '';
  return h('dl.facts.plain', {}, fact('Runs', number(runs.total)),
    fact('A call takes', `${took(calls.p50_ms)}, at p95 ${took(calls.p95_ms)}`),
    fact('Tokens', `${compact(tokens.input)} in, ${compact(tokens.output)} out${cached}`),
    hasPrice(cost?.total) && fact('Cost', money(cost.total, cost.currency) + unpriced),
    REST.filter((name) => runs[name]).map((name) =>
      fact(STATES[name], filter({ state: name }, number(runs[name])))));
}

function tables({ agents, models, tools, users, hooks, cost, days = [] }) {
  const price = hasPrice(cost?.total) ? [['Cost', 'cost',
    (it) => (hasPrice(it) ? money(it, cost.currency) : '–')]] : [];
  const mono = (name) => h('span.mono', {}, shown(name));
  const hook = ['Hook', 'name', (name) =>
    h('a.link.hook-name', { href: timed('/hooks', { name }) }, shown(name))];
  const all = hooks.length > MOST && h('a.link', { href: timed('/hooks') },
    `All ${number(hooks.length)}`);
  const most = (rows = []) => rows.slice(0, MOST);
  const ofRuns = (key) => [
    [capital(key), 'name', (name) => filter({ [key]: name }, shown(name))],
    ['Runs', 'runs'], ['Failed', 'failed', (size, { name }) =>
      (size ? filter({ [key]: name, state: 'failed' }, bad(size)) : bad(size))],
    ...times('ms', took), ['Tokens', 'tokens', compact], ...price,
  ];
  return [
    days.length > 2 && section('By day', daysTable(days, price)),
    part('Agents', agents, ...ofRuns('agent')),
    part('Tools', tools, ['Tool', 'name', mono], ['Calls', 'calls'], ['Failed', 'failed', bad],
      ...times('ms', took), ...ofSubAgents(tools, price)),
    part('Models', models, ['Model', 'name', mono], ['Calls', 'calls'], ['Failed', 'failed', bad],
      ...times('ms', took),
      ['First p50', 'first_p50_ms', took, 'Half of the first tokens come within'],
      ['First p95', 'first_p95_ms', took, '95 of 100 first tokens come within'],
      ['Tokens', 'input', (input, { output }) => `${compact(input)} in, ${compact(output)} out`],
      ...price),
    part(users?.length > MOST ? `Users, the first ${MOST}` : 'Users', most(users), ...ofRuns('user')),
    part(['Slowest hooks', all], most(hooks), hook, ['Runs', 'runs'],
      ...times('us', tookMicros), ['Total', 'total_us', tookMicros]),
    part('Hooks in shadow', hooks.filter((it) => it.shadow_runs), hook, ['Runs', 'shadow_runs'],
      ['Would have denied', 'would_have', some, 'Or asked, stopped or changed']),
  ];
}

/** What tools cost that are agents. */
function ofSubAgents(tools, price) {
  if (!tools.some((it) => it.tokens)) return [];
  const title = 'Of the sub-agents that ran for the tool';
  return [['Tokens', 'tokens', (it) => (it ? compact(it) : '–'), title],
    ...price.map(([head, key, write]) => [head, key, (it) => (it ? write(it) : '–'), title])];
}

function part(head, rows, ...columns) {
  const [title] = [head].flat();
  return rows.length > 0 && section(head, table(title, columns, rows), columns.length > 7 && '.wide');
}

const section = (head, body, kind) => h(`section.part${kind || ''}`, { data: { key: [head].flat()[0] } },
  h('h2', {}, head), body);

