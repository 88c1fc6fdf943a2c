// What the rows of a run say: each kind of node.

import { DECISIONS, REASONS, STATES, askersOf, attemptOf, failureOf, outputOf, whyOf }
  from './entry.js';
import { runLink } from './place.js';
import { decisionOf, mayAct } from './state.js';
import { change, code, hiddenText, longText } from './code.js';
import { h } from './dom.js';
import { failureMore } from './failure.js';
import { message, roleOf } from './message.js';
import { requestBody } from './request_body.js';
import { args, brief, clock, compact, count, line, micros, shown } from './format.js';

const INLINE = 44;

const toolState = (state) => ({ done: '', waiting: 'waits for approval', cut: 'cut off' }[state] ?? state);
export const stateChip = (state) => toolState(state) !== ''
  && h(`span.chip.${state.replace(' ', '-')}`, {}, toolState(state));
const label = (text) => h('span.label', {}, text);
const faintCut = (text) => h('span.faint.cut', {}, text);

/** What a hook in shadow would have done, as a verb. */
function would({ flow, changed }) {
  if (flow === 'continue' && changed?.length) return 'change';
  return { failed: 'fail', panicked: 'panic', cancelled: 'end' }[flow] ?? shown(flow);
}

/**
 * What a row says in its line: `{ icon, parts, time }`, and a `body`. Its name for screen readers is what is
 * visible in the line, with `word` before it and `after` behind it.
 */
export const KINDS = {
  input: ({ messages }) => ({
    icon: 'user',
    parts: [label(messages.length > 1 ? 'Messages' : roleOf(messages[0]))],
    after: line(textsOf(messages).join(' ')),
    body: messages.map(message),
  }),
  round: (node) => ({
    icon: 'round',
    parts: [
      label(labelOf(node)),
      node.request?.model && h('span.muted.mono', {}, shown(node.request.model)),
      node.request && faintCut(requestOf(node.request)),
      node.usage && h('span.faint.tokens', {}, tokensOf(node.usage)),
    ],
  }),
  request: ({ whole }) => ({
    icon: 'call',
    parts: [label('Request'), !whole && hiddenText('request')],
    body: whole && requestBody(whole),
  }),
  attempt: ({ attempt, model, failure, state, usage }) => ({
    icon: failure ? 'error' : 'call',
    parts: [
      label(`Attempt ${attempt}`),
      failure ? h('span.problem.wrap', {}, shown(`${model ?? ''} ${attemptOf(failure)}`.trim()))
        : h('span.muted.mono', {}, shown(model)),
      ['running', 'cut'].includes(state) && stateChip(state),
      usage && h('span.faint.tokens', {}, tokensOf(usage)),
    ],
    body: failure && failureMore(failure),
  }),
  thinking: (node) => ({
    icon: 'thinking',
    word: 'Thinking:',
    ...said(node),
  }),
  text: (node) => ({ icon: 'text', word: 'Says:', ...said(node) }),
  reply: (node) => ({
    icon: 'text',
    parts: [label('Reply'), h('span.faint', {}, 'as hooks left it')],
    after: line(node.text),
    body: [longText('div.prose', node.text)],
  }),
  tool: (node) => {
    const inline = args(node.input);
    const isShort = inline.length <= INLINE && !inline.includes('{');
    return {
      icon: ['failed', 'refused'].includes(node.state) ? 'error' : 'tool',
      parts: [
        h('span.tool-name', {}, shown(node.name)),
        isShort && inline !== '' && h('span.args', {}, shown(inline)),
        node.hidden !== undefined && hiddenText('arguments', node.hidden),
        stateChip(node.state),
      ],
      word: 'Tool',
      after: toolState(node.state) ? '' : 'done',
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
    word: 'Progress:',
    time: clock(node.at),
  }),
  result: ({ result }) => {
    const { text, more } = outputOf(result.output);
    return {
      icon: result.is_error ? 'error' : 'none',
      word: `${result.is_error ? 'Error' : 'Result'}: ${line(text)}`,
      body: [
        result.hidden && hiddenText('result', result.chars),
        text ? code(text) : !result.hidden && !more.length && missing('The result is empty.'),
        more.map((it) => h('p.media', {}, shown(it))),
      ],
    };
  },
  asked: ({ pending, tree }) => {
    const decided = decisionOf(tree.run, pending.id);
    return {
      icon: 'asked',
      parts: [
        h('span.wrap', {}, shown(pending.question?.description || whyOf(pending.why)), ' ',
          pending.asked_by && h('span.faint', {}, `asked by ${shown(askersOf(pending))} `),
          decided ? decision(decided) : mayAct() && h('a.decide', { href: '#/approvals' }, 'Decide')),
      ],
      word: decided ? 'Waited:' : 'Waits:',
    };
  },
  remembered: ({ by, at }) => ({
    icon: 'asked',
    parts: [h('span.muted', {}, `Nobody was asked: a remembered approval of ${shown(by ?? 'somebody')}`)],
    time: clock(at),
  }),
  hooks: (node) => ({
    icon: 'hook',
    parts: [
      h('span.muted', {}, `${count(node.children.length, 'quiet hook')}`),
      faintCut([...new Set(node.children.map((it) => shown(it.hook.hook)))].join(', ')),
    ],
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
    word: 'Hook',
    after: `${hook.shadow ? 'in shadow' : hook.flow}, ${count(hook.changed?.length ?? 0, 'change')}`,
    time: hook.us === undefined ? '' : micros(hook.us),
    body: [
      (hook.changed ?? []).map(change),
      hook.cut && missing('What it changed is too large to be kept.'),
    ],
  }),
  run: (tree) => ({
    icon: 'run',
    parts: [
      label(shown(tree.agent)),
      h(`span.chip.${tree.summary?.state ?? 'running'}`, {}, STATES[tree.summary?.state] ?? 'Running'),
      faintCut(line(tree.summary?.title ?? '')),
    ],
    word: 'Sub-agent',
  }),
  settled: ({ settled, at, tree }) => {
    const reason = REASONS[settled.reason] ?? settled.reason;
    const asks = settled.reason === 'permission_asking' && settled.outcome === 'finished';
    const isGood = settled.outcome === 'finished';
    const { failure } = settled;
    return {
      icon: isGood ? (asks ? 'asked' : 'end') : 'error',
      parts: [
        label(asks ? 'Ended with a question'
          : STATES[settled.outcome] ?? shown(settled.outcome)),
        reason && !asks && h('span.muted', {}, shown(reason)),
        failure && h('span.problem.wrap', {}, shown(failureOf(failure))),
      ],
      // The head of the page has it for the run itself.
      body: failure && tree.run !== tree.view.id && failureMore(failure),
      time: clock(at),
    };
  },
  resumed: ({ by, at }) => ({
    icon: 'next',
    parts: [
      label('Resumed'),
      h('a.link', { href: runLink(by) }, 'Open the run that goes on'),
    ],
    after: `at ${clock(at)}`,
  }),
  given_up: ({ at }) => ({
    icon: 'end',
    parts: [label('Given up'), h('span.faint', {}, 'The thread was rewound.')],
    time: clock(at),
  }),
  note: ({ entry, at }) => ({
    icon: 'none',
    parts: [h('span.muted', {}, shown(entry.type)), faintCut(brief(entry.data))],
    time: clock(at),
  }),
};

function decision({ decision: kind, reason, by }) {
  return [h(`span.chip.${kind}`, {}, DECISIONS[kind] ?? shown(kind)), ' ',
    h('span.muted', {}, [by && `by ${shown(by)}`, reason && shown(reason)].filter(Boolean).join(': '))];
}

const missing = (text) => h('p.missing', {}, text);
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

function said({ text, hidden, isGrowing }) {
  if (!hidden) return { text };
  return { parts: [hiddenText(isGrowing ? 'draft' : 'text', hidden)] };
}
