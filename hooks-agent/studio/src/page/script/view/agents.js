// Agents: their hooks in the order in which they run, and messages to them.

import { api } from './api.js';
import { agentLink, runLink } from './place.js';
import { agentOf, mayAct, state } from './state.js';
import { action, backLink, field, fill, h, listHeading, say } from './dom.js';
import { ago, count, shortPaths, shown } from './format.js';
import { bad, table } from './table.js';

// When the methods of an agent begin and end, in the order of a call.
const MOMENTS = {
  REPLY: [0, 90], SYSTEM_PROMPT: [10, 11], COMPRESS_CONTEXT: [12, 13], REASONING: [20, 29],
  MODEL_CALL: [22, 23], REASONING_CHUNK: [24, 25], ACTING: [30, 39], CHECK_PERMISSION: [32, 33],
  TOOL_CALL: [34, 35], ACTING_CHUNK: [36, 37], SUMMARIZING: [40, 49], SUMMARY_CHUNK: [42, 43],
  SETTLED: [95, 96],
};
const PHASES = { PRE: [0, 0], AROUND: [0, 0.2], POST: [1, 0], ERROR: [1, 0.2], SETTLED: [1, 0.4] };

export function agentList(side, open) {
  const items = state.agents.map(({ name, model, tools = [] }) => h('li', {}, h('a.agent',
    { href: agentLink(name), ariaCurrent: name === open ? 'true' : null }, h('span.title', {}, shown(name)),
    h('span.who', {}, [shown(model), count(tools.length, 'tool')].filter(Boolean).join(' · ')))));
  fill(side, listHeading('Agents'), items.length
    ? h('ul.runs', { ariaLabel: 'Agents' }, items)
    : h('div.empty', {}, h('p', {}, 'No agents yet.'), h('p.muted', {}, 'Give the studio an agent, ',
      h('code', {}, 'studio.agent(agent)'), ', to see its hooks, decide for it and interrupt it.')));
}

export async function agentPage(main, name, isCurrent) {
  const agent = agentOf(name);
  if (!name) {
    const workers = h('section.workers', { ariaLabel: 'Workers', hidden: true });
    fill(main, h('div.blank', {}, h('h1', {}, 'Agents'), h('p', {}, state.agents.length
      ? 'Choose an agent to see its hooks.' : 'The agents of the studio are listed here, with their hooks.')),
    workers);
    const joined = await api.agents().catch(() => ({}));
    if (isCurrent()) drawWorkers(workers, joined.workers ?? []);
    return;
  }
  const plan = h('section.plan', { ariaLabel: 'Hooks' }, h('p.missing', {}, 'Loading the hooks.'));
  fill(main, h('header.run-head', {}, backLink('#/agents', 'Agents'), h('div.run-title', {}, h('h1', {}, shown(name)),
    agent?.model && h('span.muted.mono', {}, shown(agent.model))),
  agent?.tools?.length > 0 && h('ul.tools', { ariaLabel: 'Tools' },
    agent.tools.map((tool) => h('li', {}, shown(tool))))),
  agent?.chat && mayAct() && composer(name), plan);
  try {
    const { hooks, warnings } = await api.plan(name);
    if (isCurrent()) drawPlan(plan, hooks, warnings);
  } catch (error) {
    if (isCurrent()) fill(plan, h('p.problem', {}, shown(error.message)));
  }
}

const WORKER = [
  ['Worker', 'name', (name) => shown(name)],
  ['State', 'is_away', (isAway) => (isAway ? h('span.problem', {}, 'away') : 'here')],
  ['Heard of', 'heard', (at) => ago(at)],
  ['Entries not sent', 'dropped', bad, 'What the worker dropped before the studio had it'],
];

/** The processes that joined the studio, if there are any. */
function drawWorkers(section, workers) {
  section.hidden = !workers.length;
  if (workers.length) fill(section, h('h2', {}, 'Workers'), table('Workers', WORKER, workers));
}

function drawPlan(plan, hooks, warnings) {
  const groups = new Map();
  const places = shortPaths(hooks.map((it) => it.registered_at ?? ''));
  hooks.forEach((hook, at) => {
    hook.place = places[at];
    if (!groups.has(hook.hook_type)) groups.set(hook.hook_type, []);
    groups.get(hook.hook_type).push(hook);
  });
  fill(plan, h('h2', {}, 'Hooks'),
    warnings.map((text) => h('p.warning', {}, shown(text))),
    !hooks.length && h('p.missing', {}, 'This agent has no hooks. ',
      'Give it some with .hook(..) when it is built.'),
    hooks.length > 0 && h('div.scroll', { tabIndex: 0, role: 'region', ariaLabel: 'Table of hooks' },
      h('table', {}, h('thead', {}, h('tr', {}, ['Hook', 'Level', 'Priority', 'Role', 'Registered at']
        .map((it) => h('th', { scope: 'col' }, it)))),
      [...groups].sort(byMoment).map(([type, of]) => h('tbody', {},
        h('tr.group', {}, h('th', { colSpan: 5, scope: 'rowgroup' }, shown(type).toUpperCase())),
        of.map(planRow))))));
}

function momentOf(type) {
  const [, phase, method] = /^(PRE|AROUND|POST|ERROR|SETTLED)_(.*)$/.exec(type.toUpperCase()) ?? [];
  const [side, after] = PHASES[phase] ?? [0, 0];
  return (MOMENTS[method] ?? [80, 81])[side] + after;
}

const byMoment = ([one], [other]) => momentOf(one) - momentOf(other);

function planRow({ name, level, priority, role, registered_at: whole, place }) {
  return h('tr', {}, h('td.hook-name', {}, shown(name)), h('td', {}, shown(level)),
    h('td.numeric', {}, String(priority)), h('td', {}, role ? shown(role).toLowerCase() : ''),
    h('td.place', { title: shown(whole ?? '') }, shown(place)));
}

/** A field for a message to an agent; the thread is asked for if there is none. */
export function composer(agent, thread) {
  const where = thread === undefined && field('Thread', { type: 'text', value: 'default' });
  const text = h('textarea', { rows: 2, ariaLabel: `Message to ${shown(agent)}`,
    placeholder: thread === undefined ? `Message to ${shown(agent)}` : `Reply on thread ${shown(thread)}` });
  const status = h('p.status', { role: 'status' });
  const sender = (label, send, kind) => action(label, async () => {
    if (text.value.trim()) return send();
    text.focus();
    throw new Error('Write a message first.');
  }, kind, (error) => say(status, shown(error.message)));
  const submit = sender('Send', async () => {
    const { run } = await api.send(agent, thread ?? (where.value.trim() || 'default'), text.value);
    location.hash = runLink(run);
  }, '.primary');
  const now = sender('Say it to the running call', async () => {
    const { taken_by: by } = await api.steer(agent, thread, text.value);
    text.value = '';
    say(status, by === 'running' ? 'The running call takes it.' : 'The next call takes it.');
  });
  text.addEventListener('keydown', ({ key, ctrlKey, metaKey }) => {
    if (key === 'Enter' && (ctrlKey || metaKey)) submit.click();
  });
  return h('section.composer', { ariaLabel: 'Message' }, where && h('label', {}, 'Thread ', where), text,
    h('div.actions', {}, submit, thread !== undefined && agentOf(agent)?.steers && now,
      h('span.faint', {}, 'Ctrl Enter sends')), status);
}
