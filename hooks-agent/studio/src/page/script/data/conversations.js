// Conversations: the runs of an agent on one thread.

import { state } from './state.js';
import { shown } from './format.js';

/** Threads that were made here and have no run yet. */
const made = new Map();

const keyOf = ({ agent, thread }) => `${agent}\n${thread}`;

export function addThread(agent, thread) {
  made.set(keyOf({ agent, thread }), threadOf(agent, thread, []));
}

const byStart = (one, other) => one.started - other.started || one.after - other.after;

/** The threads that runs are on, the newest first. */
export function threadsOf(runs) {
  const [found, costs] = [new Map(), new Map()];
  for (const run of runs.values()) {
    let top = run;
    while (top?.parent) top = runs.get(top.parent);
    if (!top) continue;
    if (run.cost !== undefined) costs.set(top, (costs.get(top) ?? 0) + run.cost);
    if (run !== top) continue;
    const key = keyOf(run);
    if (found.has(key)) found.get(key).push(run);
    else found.set(key, [run]);
  }
  const threads = [...found.values()].map((of) => threadOf(of[0].agent, of[0].thread, of.sort(byStart), costs));
  return [...[...made].filter(([key]) => !found.has(key)).map(([, it]) => it),
    ...threads.sort((one, other) => byStart(other.last, one.last))];
}

export const threadIn = (runs, agent, thread) => threadsOf(runs).find((it) =>
  it.agent === agent && it.thread === thread) ?? threadOf(agent, thread, []);

/** A thread: tokens are those of its runs, costs those of their sub-agents too. */
function threadOf(agent, thread, runs, costs) {
  const sum = (of) => runs.reduce((all, run) => all + (of(run) ?? 0), 0);
  const last = runs.at(-1);
  return { agent, thread, runs, last, state: last?.state,
    user: runs.findLast((run) => run.user)?.user, title: shown(runs.find((run) => run.title)?.title ?? thread),
    input: sum((run) => run.input_tokens), output: sum((run) => run.output_tokens),
    cost: runs.some((run) => costs.has(run)) ? sum((run) => costs.get(run)) : undefined };
}

/** The runs of a thread in their order; one that went on with another one is after it, and `isNext`. */
export function inTurns(runs) {
  const known = new Map(runs.map((run) => [run.run, [{ run }]]));
  const askers = new Map(runs.filter((run) => known.has(run.resumed_by)).map((run) => [run.resumed_by, run.run]));
  for (const run of runs) {
    const turn = known.get(askers.get(run.run));
    turn?.push({ run, isNext: true });
    if (turn) known.set(run.run, turn);
  }
  return [...new Set(known.values())].flat();
}

/** A name for another thread of an agent that none of the known ones has. */
export function freeName(agent, thread) {
  const taken = new Set(threadsOf(state.runs).map(keyOf));
  const name = `${thread.replace(/-fork(-\d+)?$/, '')}-fork`;
  let found = name;
  for (let number = 2; taken.has(keyOf({ agent, thread: found })); number += 1) found = `${name}-${number}`;
  return found;
}
