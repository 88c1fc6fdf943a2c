// Agents: their hooks in the order in which they run, and messages to them.

import { api } from './api.js';
import { agentOf, state } from './state.js';
import { button, fill, h, icon, say } from './dom.js';
import { count, shown } from './format.js';

// When the methods of an agent begin and end, in the order of a call.
const MOMENTS = {
  REPLY: [0, 90], SYSTEM_PROMPT: [10, 11], COMPRESS_CONTEXT: [12, 13], REASONING: [20, 29],
  MODEL_CALL: [22, 23], REASONING_CHUNK: [24, 25], ACTING: [30, 39], CHECK_PERMISSION: [32, 33],
  TOOL_CALL: [34, 35], ACTING_CHUNK: [36, 37], SUMMARIZING: [40, 49], SUMMARY_CHUNK: [42, 43],
  SETTLED: [95, 96],
};
const PHASES = { PRE: [0, 0], AROUND: [0, 0.2], POST: [1, 0], ERROR: [1, 0.2], SETTLED: [1, 0.4] };

/** The list of agents, beside a plan. */
export function agentList(side, open) {
  const items = state.agents.map((agent) => {
    const link = h('a.agent', { href: `#/agents/${encodeURIComponent(agent.name)}` },
      h('span.title', {}, shown(agent.name)),
      h('span.who', {}, [shown(agent.model ?? ''), count(agent.tools?.length ?? 0, 'tool')]
        .filter(Boolean).join(' · ')));
    if (agent.name === open) link.setAttribute('aria-current', 'true');
    return h('li', {}, link);
  });
  fill(side, h('h2.unseen', {}, 'Agents'), items.length
    ? h('ul.runs', { 'aria-label': 'Agents' }, items)
    : h('div.empty', {}, h('p', {}, 'No agents yet.'), h('p.muted', {}, 'Give the studio an agent, ',
      h('code', {}, 'studio.agent(agent)'), ', to see its hooks, decide for it and interrupt it.')));
}

/** The page of one agent. */
export async function agentPage(main, name, isCurrent) {
  const agent = agentOf(name);
  const back = h('a.back', { href: '#/agents', 'aria-label': 'Back to the agents' }, icon('back'),
    'Agents');
  if (!name) {
    fill(main, h('div.blank', {}, h('p', {}, 'Choose an agent to see its hooks.')));
    return;
  }
  const plan = h('section.plan', { 'aria-label': 'Hooks' }, h('p.missing', {}, 'Loading the hooks.'));
  fill(main, h('header.run-head', {}, back, h('div.run-title', {}, h('h1', {}, shown(name)),
    agent?.model && h('span.muted.mono', {}, shown(agent.model))),
  agent?.tools?.length > 0 && h('ul.tools', { 'aria-label': 'Tools' },
    agent.tools.map((tool) => h('li', {}, shown(tool))))),
  agent?.chat && composer(name), plan);
  try {
    const { hooks, warnings } = await api.plan(name);
    if (isCurrent()) drawPlan(plan, hooks, warnings);
  } catch (error) {
    if (isCurrent()) fill(plan, h('p.problem', {}, shown(error.message)));
  }
}

function drawPlan(plan, hooks, warnings) {
  const groups = new Map();
  for (const hook of hooks) {
    if (!groups.has(hook.hook_type)) groups.set(hook.hook_type, []);
    groups.get(hook.hook_type).push(hook);
  }
  fill(plan, h('h2', {}, 'Hooks'),
    warnings.map((text) => h('p.warning', {}, shown(text))),
    !hooks.length && h('p.missing', {}, 'This agent has no hooks. ',
      'Give it some with .hook(..) when it is built.'),
    hooks.length > 0 && h('div.scroll', { tabIndex: 0, role: 'region', 'aria-label': 'Table of hooks' },
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

function planRow({ name, level, priority, role, registered_at: place }) {
  return h('tr', {}, h('td.hook-name', {}, shown(name)), h('td', {}, shown(level)),
    h('td.numeric', {}, String(priority)), h('td', {}, role ? shown(role).toLowerCase() : ''),
    h('td.place', {}, shown(place ?? '')));
}

/** A field for a message to an agent; the thread is asked for if there is none. */
export function composer(agent, thread) {
  const where = thread === undefined && h('input', { value: 'default', 'aria-label': 'Thread',
    autocomplete: 'off', spellcheck: false });
  const text = h('textarea', { rows: 2, 'aria-label': `Message to ${shown(agent)}`,
    placeholder: thread === undefined ? `Message to ${shown(agent)}` : `Reply on thread ${shown(thread)}` });
  const status = h('p.status', { role: 'status' });
  const send = async () => {
    if (!text.value.trim()) {
      say(status, 'Write a message first.');
      text.focus();
      return;
    }
    submit.disabled = true;
    try {
      const { run } = await api.send(agent, thread ?? (where.value.trim() || 'default'), text.value);
      location.hash = `#/run/${encodeURIComponent(run)}`;
    } catch (error) {
      say(status, shown(error.message));
      submit.disabled = false;
    }
  };
  const steer = async () => {
    if (!text.value.trim()) {
      say(status, 'Write a message first.');
      text.focus();
      return;
    }
    now.disabled = true;
    try {
      const { taken_by: by } = await api.steer(agent, thread, text.value);
      text.value = '';
      say(status, by === 'running' ? 'The running call takes it.' : 'The next call takes it.');
    } catch (error) {
      say(status, shown(error.message));
    }
    now.disabled = false;
  };
  const now = button('Say it to the running call', steer);
  const submit = button('Send', send, '.primary');
  text.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
  });
  return h('section.composer', { 'aria-label': 'Message' },
    where && h('label', {}, 'Thread ', where), text,
    h('div.actions', {}, submit, thread !== undefined && agentOf(agent)?.steers && now, h('span.faint', {}, 'Ctrl Enter sends')), status);
}
