// When what a row shows began and ended.

import { decisionOf, state } from './state.js';

/** From how many microseconds on a hook has a bar. */
const SEEN = 1000;

/** How much of the time of a run its wait for people takes at first, however long it was. */
const WAIT = 0.3;

/** The calls of the model of a round; a run of an older program tells of no attempts. */
function callsOf({ attempts, asked, first, said, end }) {
  if (attempts.length) return attempts.map(callOf);
  return asked ? [{ kind: 'call', from: asked, first, to: said ?? end }] : [];
}

function callOf({ at, first, end, state, failure }) {
  const failed = state === 'failed' && String(failure?.status ?? 'failed');
  const note = failed || (state === 'cut' ? 'cut off' : '');
  return { kind: 'call', from: at, first, to: end, isWaiting: first === null, note };
}

const resumedAt = ({ resumedAt: at, summary }) => at ?? state.runs.get(summary?.resumed_by)?.started;

function answered({ pending, tree }) {
  const isWaiting = tree.summary?.state === 'waiting';
  return decisionOf(tree.run, pending.id)?.at ?? (isWaiting ? null : resumedAt(tree) ?? tree.end);
}

/** The bars of a node, the widest first: `{ kind, from, first, to, note }`; `to` is `null` if it goes on. */
const SPANS = {
  round: (node) => [{ kind: 'round', from: node.at, to: node.end }, ...callsOf(node)],
  attempt: (node) => [callOf(node)],
  tool: ({ begin, end, state }) => (begin ? [{ kind: 'tool', from: begin, to: end,
    note: ['failed', 'refused'].includes(state) ? 'error' : state === 'cut' ? 'cut off' : '' }] : []),
  hook: ({ at, hook: { us } }) => (us >= SEEN ? [{ kind: 'hook', from: at - us / 1000, to: at }] : []),
  run: (tree) => (tree.at ? [{ kind: 'run', from: tree.at, to: tree.end }] : []),
  asked: (node) => [{ kind: 'wait', from: node.at, to: answered(node) }],
  resumed: ({ at, tree }) => (tree.end ? [{ kind: 'wait', from: tree.end, to: at }] : []),
};

export const spansOf = (node) => SPANS[node.kind]?.(node) ?? [];

export const hasTime = (node) => node.kind in SPANS && (node.kind !== 'hook' || node.hook.us >= SEEN);

/** The time of a run: when it began, when its waiting ended, and until when it is shown at first. */
export function timeOf(tree, now) {
  const from = tree.at;
  const own = Math.max(from + 1, tree.end ?? now);
  const waits = tree.summary?.state === 'waiting' ? now : resumedAt(tree) ?? own;
  const until = Math.max(own, waits);
  return { from, until, first: Math.min(until, own + Math.max(1, (own - from) * WAIT)) };
}
