// The rows of a run: what each kind of node looks like.

import { DECISIONS, STATES, REASONS, askersOf, failureOf, mediaOf, outputOf, whyOf } from './entry.js';
import { decisionOf } from './state.js';
import { change, code, hiddenText, longText } from './code.js';
import { button, fill, h, icon, say } from './dom.js';
import { args, brief, clock, compact, count, duration, line, micros, shown } from './format.js';

const INLINE = 44;

const TOOL_STATES = {
  planned: 'planned',
  running: 'running',
  done: '',
  failed: 'failed',
  refused: 'refused',
  waiting: 'waits for approval',
  cut: 'cut off',
  'not run': 'not run',
};

/** What a hook in shadow would have done, as a verb. */
const WOULD = {
  continue: 'continue', refuse: 'refuse', ask: 'ask', answer: 'answer', stop: 'stop', jump: 'jump',
  recover: 'recover', failed: 'fail', panicked: 'panic', cancelled: 'end',
};

function would(hook) {
  if (hook.flow === 'continue' && hook.changed?.length) return 'change';
  return WOULD[hook.flow] ?? shown(hook.flow);
}

/** What a row says in its line: `{ icon, parts, name, note, time }`, and a body. */
const KINDS = {
  input: ({ messages }) => ({
    icon: 'user',
    parts: [h('span.label', {}, messages.length > 1 ? 'Messages' : roleOf(messages[0]))],
    name: `Input: ${line(textsOf(messages).join(' '))}`,
    body: messages.map(message),
  }),
  round: (node) => ({
    icon: 'round',
    parts: [
      h('span.label', {}, labelOf(node)),
      node.request?.model && h('span.muted.mono', {}, shown(node.request.model)),
      node.request && h('span.faint.cut', {}, requestOf(node.request)),
      node.usage && h('span.faint.tokens', {}, tokensOf(node.usage)),
    ],
    name: `${labelOf(node)} ${node.request?.model ?? ''}`,
    span: [node.at, node.end],
  }),
  thinking: (node) => ({
    icon: 'thinking',
    name: `Thinking: ${line(node.text)}`,
    ...said(node),
  }),
  text: (node) => ({ icon: 'text', name: `Says: ${line(node.text)}`, ...said(node) }),
  reply: (node) => ({
    icon: 'text',
    parts: [h('span.label', {}, 'Reply'), h('span.faint', {}, 'as hooks left it')],
    name: `Reply: ${line(node.text)}`,
    body: [longText('div.prose', node.text)],
  }),
  tool: (node) => {
    const inline = args(node.input);
    const isShort = inline.length <= INLINE && !inline.includes('{');
    return {
      icon: 'tool',
      parts: [
        h('span.tool-name', {}, shown(node.name)),
        isShort && inline !== '' && h('span.args', {}, shown(inline)),
        node.hidden !== undefined && hiddenText('arguments', node.hidden),
        TOOL_STATES[node.state] && h(`span.chip.${node.state.replace(' ', '-')}`, {},
          TOOL_STATES[node.state]),
      ],
      name: `Tool ${node.name}, ${TOOL_STATES[node.state] || 'done'}`,
      span: node.begin ? [node.begin, node.end] : null,
      body: [
        !isShort && code(node.input),
        node.invalid && h('p.problem', {}, 'The arguments are not valid JSON:'),
        node.invalid && code(node.invalid),
      ],
    };
  },
  progress: (node) => ({
    icon: 'none',
    parts: [node.text === undefined ? hiddenText('progress', node.chars)
      : h('span.muted', {}, line(node.text, 400))],
    name: `Progress: ${line(node.text)}`,
    time: clock(node.at),
  }),
  result: ({ result }) => {
    const { text, more } = outputOf(result.output);
    return {
      icon: result.is_error ? 'error' : 'none',
      name: `${result.is_error ? 'Error' : 'Result'}: ${line(text)}`,
      body: [
        result.hidden && hiddenText('result', result.chars),
        text ? code(text) : !result.hidden && !more.length && missing('The result is empty.'),
        more.map((it) => h('p.media', {}, shown(it))),
      ],
    };
  },
  asked: ({ pending, run }) => {
    const decided = decisionOf(run, pending.id);
    return {
      icon: 'asked',
      parts: [
        h('span.wrap', {}, shown(pending.question?.description || whyOf(pending.why)), ' ',
          pending.asked_by && h('span.faint', {}, `asked by ${shown(askersOf(pending))} `),
          decided ? decision(decided) : h('a.decide', { href: '#/approvals' }, 'Decide')),
      ],
      name: `Waits: ${whyOf(pending.why)}`,
      time: decided && clock(decided.at),
    };
  },
  remembered: ({ by, at }) => ({
    icon: 'asked',
    parts: [h('span.muted', {}, `Nobody was asked: a remembered approval of ${shown(by ?? 'somebody')}`)],
    name: 'Nobody was asked: a remembered approval',
    time: clock(at),
  }),
  hooks: (node) => ({
    icon: 'hook',
    parts: [
      h('span.muted', {}, `${count(node.children.length, 'quiet hook')}`),
      h('span.faint.cut', {}, [...new Set(node.children.map((it) => shown(it.hook.hook)))].join(', ')),
    ],
    name: count(node.children.length, 'quiet hook'),
    time: micros(node.us),
  }),
  hook: ({ hook }) => ({
    icon: 'hook',
    parts: [
      h('span.hook-name', {}, shown(hook.hook)),
      h('span.event', { title: `${hook.level} hook, priority ${hook.priority}` }, shown(hook.event)),
      hook.shadow && would(hook) !== 'continue' && h('span.chip.shadow', { title: 'In shadow: it changed nothing' }, `would ${would(hook)}`),
      !hook.shadow && hook.flow !== 'continue' && h(`span.chip.flow-${hook.flow}`, {}, shown(hook.flow)),
      hook.role && h('span.faint', {}, String(hook.role).toLowerCase()),
    ],
    name: `Hook ${hook.hook} at ${hook.event}: ${hook.shadow ? `in shadow, would ${would(hook)}` : hook.flow}, ${count(hook.changed?.length ?? 0, 'change')}`,
    time: hook.us === undefined ? '' : micros(hook.us),
    body: [
      (hook.changed ?? []).map(change),
      hook.cut && missing('What it changed is too large to be kept.'),
    ],
  }),
  run: (tree) => ({
    icon: 'run',
    parts: [
      h('span.label', {}, shown(tree.agent)),
      h(`span.chip.${tree.summary?.state ?? 'running'}`, {}, STATES[tree.summary?.state] ?? 'Running'),
      h('span.faint.cut', {}, line(tree.summary?.title ?? '')),
    ],
    name: `Sub-agent ${tree.agent}, ${tree.summary?.state ?? 'running'}`,
    span: [tree.at, tree.end],
  }),
  settled: ({ settled, at }) => {
    const reason = REASONS[settled.reason] ?? settled.reason;
    const isGood = settled.outcome === 'finished';
    return {
      icon: isGood ? (reason === REASONS.permission_asking ? 'asked' : 'end') : 'error',
      parts: [
        h('span.label', {}, STATES[settled.outcome] ?? shown(settled.outcome)),
        reason && h('span.muted', {}, shown(reason)),
        settled.failure && h('span.problem', {}, shown(failureOf(settled.failure))),
      ],
      name: `${settled.outcome} ${reason ?? ''}`,
      time: clock(at),
    };
  },
  resumed: ({ by, at }) => ({
    icon: 'run',
    parts: [
      h('span.label', {}, 'Resumed'),
      h('a.link', { href: `#/run/${encodeURIComponent(by)}` }, 'Open the run that goes on'),
    ],
    name: 'Resumed by another run',
    time: clock(at),
  }),
  note: ({ entry, at }) => ({
    icon: 'none',
    parts: [h('span.muted', {}, shown(entry.type)), h('span.faint.cut', {}, brief(entry.data))],
    name: entry.type,
    time: clock(at),
  }),
};

function decision({ decision: kind, reason, by }) {
  return [h(`span.chip.${kind}`, {}, DECISIONS[kind] ?? shown(kind)), ' ',
    h('span.muted', {}, [by && `by ${shown(by)}`, reason && shown(reason)].filter(Boolean).join(': '))];
}

const missing = (text) => h('p.missing', {}, text);
const roleOf = (msg) => ({ user: 'User', tool: 'Tool result', system: 'System' })[msg.role]
  ?? shown(msg.name || msg.role);
const textsOf = (messages) => messages.flatMap((msg) => msg.content ?? [])
  .filter((it) => it.type === 'text').map((it) => it.text);

function labelOf({ label, number, isResumed }) {
  return isResumed ? 'Resumed' : label ?? `Round ${number}`;
}

function requestOf({ messages, tools }) {
  const parts = [];
  if (messages !== undefined) parts.push(count(messages, 'message'));
  if (tools?.length) parts.push(count(tools.length, 'tool'));
  return parts.join(', ');
}

function tokensOf({ input_tokens: input, output_tokens: output }) {
  return input || output ? `${compact(input)} in, ${compact(output)} out` : '';
}

function message(msg, at, all) {
  const label = all.length > 1 && h('span.label', {}, roleOf(msg));
  const blocks = (msg.content ?? []).map((block) => {
    if (block.type === 'text') return longText('div.prose', block.text);
    if (block.type === 'tool_result') return code(outputOf(block.output).text);
    return h('p.media', {}, shown(mediaOf(block)));
  });
  return h('div.message', {}, label, msg.hidden ? hiddenText('text', msg.chars) : blocks);
}

/** A text that the model says, or how long it is. */
function said({ text, hidden, isGrowing }) {
  if (!hidden) return { text };
  return { parts: [hiddenText(isGrowing ? 'draft' : 'text', hidden)] };
}

/** Makes the element of a row. */
export function renderRow(row, toggle) {
  const twist = h('span.twist', { 'aria-hidden': 'true', onclick: () => toggle(row.key) });
  const head = h('div.head', {}, twist);
  const bar = h('span.bar', { 'aria-hidden': 'true' }, h('i'));
  const time = h('span.time');
  const body = h('div.body');
  const element = h(`div.row.k-${row.node.kind}`, { role: 'treeitem', tabIndex: -1,
    data: { key: row.key } }, head, bar, time, body);
  element.parts = { twist, head, bar: bar.firstChild, time, body };
  element.style.setProperty('--depth', row.depth);
  updateRow(element, row);
  return element;
}

/** Brings the element of a row up to date. */
export function updateRow(element, row) {
  const { node, hasChildren, isOpen } = row;
  const { twist, head, time, body } = element.parts;
  const told = KINDS[node.kind](node);
  element.setAttribute('aria-level', row.depth + 1);
  // There are more than are in the document.
  element.setAttribute('aria-posinset', row.position);
  element.setAttribute('aria-setsize', -1);
  element.setAttribute('aria-label', told.name);
  element.classList.toggle('is-error', node.result?.is_error === true);
  element.classList.toggle('is-growing', node.isGrowing === true);
  if (hasChildren) element.setAttribute('aria-expanded', isOpen);
  else element.removeAttribute('aria-expanded');
  fill(twist, hasChildren && icon('chevron'));
  element.told = told;
  if (told.text === undefined) {
    element.streamed = null;
    fill(head, twist, told.icon !== 'none' && icon(told.icon), told.parts);
    fill(body, told.body);
  } else {
    grow(element, told);
  }
  say(time, told.time ?? '');
}

/** A text that streams is appended to; a screen reader and a selection keep their place. */
function grow(element, { text, icon: name }) {
  const { twist, head, body } = element.parts;
  const safe = shown(text);
  const node = element.streamed;
  if (node?.isConnected && safe.startsWith(node.data)) {
    if (safe.length > node.data.length) node.appendData(safe.slice(node.data.length));
    return;
  }
  fill(head, twist, icon(name));
  if (safe.length > 20_000) {
    element.streamed = null;
    fill(body, longText('div.prose', text));
    return;
  }
  element.streamed = document.createTextNode(safe);
  fill(body, h('div.prose', {}, element.streamed));
}

/** Draws the bar of a row in the time of the whole run. */
export function placeBar(element, from, until, now) {
  const { bar, time } = element.parts;
  const span = element.told.span;
  bar.hidden = !span || !span[0];
  if (bar.hidden) return;
  const all = Math.max(1, until - from);
  const end = span[1] ?? now;
  const left = Math.min(1, Math.max(0, (span[0] - from) / all));
  const width = Math.min(1 - left, Math.max(0, (end - span[0]) / all));
  bar.style.setProperty('left', `${(left * 100).toFixed(2)}%`);
  bar.style.setProperty('width', `${(width * 100).toFixed(2)}%`);
  bar.classList.toggle('is-open', span[1] === null);
  say(time, duration(end - span[0]));
}

/** A button that is one of a group in a head. */
export const headButton = (label, onclick, isOn) => {
  const made = button(label, onclick, '.quiet');
  if (isOn !== undefined) made.setAttribute('aria-pressed', isOn);
  return made;
};
