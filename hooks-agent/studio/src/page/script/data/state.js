// What the page knows: runs, agents, approvals, and the entries of the run that is open.

import { api } from './api.js';
import { shown } from './format.js';
import { listen } from './live.js';
import { RunView } from './run_view.js';

const MOST_RUNS = 1000;
const MOST_DECIDED = 100;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 15_000;

export const state = {
  runs: new Map(),
  agents: [],
  waiting: new Map(),
  decided: [],
  /** The `RunView` that is shown. */
  open: null,
  connection: 'connecting',
  error: null,
};

const listeners = new Map();
const changed = new Set();
let isScheduled = false;
let queue = [];

/** Calls the function, at most once a frame, after changes of the topic. */
export function on(topic, listener) {
  if (!listeners.has(topic)) listeners.set(topic, []);
  listeners.get(topic).push(listener);
}

/** Notes that the topic changed. */
export function touch(topic) {
  changed.add(topic);
  schedule();
}

function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  // A tab in the background has no frames.
  if (document.hidden) setTimeout(flush, 200);
  else requestAnimationFrame(flush);
}

function flush() {
  isScheduled = false;
  const events = queue;
  queue = [];
  for (const [kind, data] of events) apply(kind, data);
  const topics = [...changed];
  changed.clear();
  for (const topic of topics) for (const listener of listeners.get(topic) ?? []) listener();
}

function apply(kind, data) {
  if (kind === 'run') {
    takeRun(data);
  } else if (kind === 'event' || kind === 'hook') {
    if (state.open?.take(data)) touch('open');
    if (state.open?.isStale) openRun(state.open.id);
  } else if (kind === 'approval') {
    takeApproval(data);
  } else if (kind === 'resync') {
    state.connection = 'resync';
    touch('connection');
    reload();
  }
}

function takeRun(run) {
  // An older summary may come after a newer one was loaded.
  if (state.runs.get(run.run)?.events > run.events) return;
  state.runs.set(run.run, run);
  if (state.runs.size > MOST_RUNS) state.runs.delete(oldestRun());
  if (state.open?.takeRun(run)) touch('open');
  touch('runs');
}

function oldestRun() {
  let oldest = null;
  for (const run of state.runs.values()) if (!oldest || run.started < oldest.started) oldest = run;
  return oldest.run;
}

function takeApproval(told) {
  const { id, state: now, approval, decided } = told;
  early?.push(told);
  if (now === 'waiting' && approval) {
    state.waiting.set(id, approval);
  } else {
    state.waiting.delete(id);
    if (decided && !state.decided.some((it) => it.id === decided.id)) {
      state.decided.unshift(decided);
      state.decided.length = Math.min(state.decided.length, MOST_DECIDED);
    }
  }
  touch('approvals');
}

/** Loads everything again. Returns the number of the last entry that is in it, or `null`. */
export async function reload() {
  let seq = null;
  try {
    const [agents, runs] = await Promise.all([api.agents(), api.runs()]);
    state.agents = agents.agents;
    state.runs = new Map(runs.runs.map((run) => [run.run, run]));
    await reloadApprovals();
    if (state.open) await openRun(state.open.id);
    state.error = null;
    if (state.connection === 'resync') state.connection = 'live';
    seq = runs.seq;
  } catch (error) {
    state.error = error;
  }
  for (const topic of ['agents', 'runs', 'connection']) touch(topic);
  return seq;
}

/** What the stream says of approvals while they are loaded; null if they are not. */
let early = null;

/** Loads the approvals again. What the stream brings meanwhile is newer than what comes, and is taken after it. */
export async function reloadApprovals() {
  const own = [];
  early = own;
  try {
    const { waiting, decided } = await api.approvals();
    // Another one has begun since.
    if (early !== own) return;
    state.waiting = new Map(waiting.map((it) => [it.id, it]));
    state.decided = decided.sort((one, other) => other.at - one.at);
  } finally {
    if (early === own) early = null;
  }
  for (const told of own) takeApproval(told);
  touch('approvals');
}

/** Opens a run. The view is replaced once its entries are here. */
export async function openRun(id) {
  const view = new RunView(id);
  if (state.open?.id !== id) state.open = view;
  // What the stream brings meanwhile is taken too; entries are known by their number.
  const asked = state.open;
  asked.early = [];
  touch('open');
  try {
    const loaded = await api.run(id);
    if (state.open !== asked) return;
    const { early } = asked;
    asked.early = null;
    if (view === asked) view.clear();
    view.load(loaded);
    for (const entry of early) view.take(entry);
    view.folds = asked.folds;
  } catch (error) {
    if (state.open !== asked) return;
    view.error = error;
  }
  state.open = view;
  touch('open');
}

/** Shows no run. */
export function closeRun() {
  state.open = null;
}

/** Returns the agent of this name. */
export const agentOf = (name) => state.agents.find((agent) => agent.name === name);

/**
 * What was decided about a tool call that a run asks about. The question is one of the outermost call:
 * a call of a sub-agent is known there by the path to it.
 */
export function decisionOf(run, callId) {
  let [asking, path] = [run, callId];
  for (let of = state.runs.get(run); of?.parent; of = state.runs.get(asking)) {
    path = `${of.tool_call}/${path}`;
    asking = of.parent;
  }
  return state.decided.find((it) => it.run === asking && it.call_id === path);
}

/** The title of a run. One that resumes another has no text of its own, and takes that of the other. */
export function titleOf(run) {
  if (run.title) return shown(run.title);
  let before = null;
  for (const other of run.parent ? [] : state.runs.values()) {
    const isBefore = other.title && other.agent === run.agent && other.thread === run.thread
      && other.started <= run.started && !(before?.started > other.started);
    if (isBefore) before = other;
  }
  return before ? `Resumed: ${shown(before.title)}` : `Run ${run.run.slice(0, 8)}`;
}

function setConnection(name) {
  state.connection = name;
  touch('connection');
}

/** Loads what there is and listens from there; again, if the stream ends. */
export async function start(delay = FIRST_DELAY) {
  const again = (next) => setTimeout(() => start(next), delay);
  const seq = await reload();
  if (seq === null) {
    setConnection('reconnecting');
    again(Math.min(delay * 2, LONGEST_DELAY));
    return;
  }
  listen(seq, {
    take: (kind, data) => {
      queue.push([kind, data]);
      schedule();
    },
    open: () => setConnection('live'),
    broken: () => setConnection('reconnecting'),
    closed: () => again(FIRST_DELAY),
  });
}
