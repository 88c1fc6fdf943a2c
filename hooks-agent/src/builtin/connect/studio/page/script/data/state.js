// What the page knows: runs, agents, approvals, and the entries of the run that is open.

import { api } from './api.js';
import { connect } from './live.js';
import { RunView } from './run_view.js';

const MOST_RUNS = 1000;
const MOST_DECIDED = 100;

export const state = {
  runs: new Map(),
  agents: [],
  waiting: new Map(),
  decided: [],
  /** The `RunView` that is shown. */
  open: null,
  connection: 'connecting',
  error: null,
  isLoaded: false,
};

const listeners = new Map();
const changed = new Set();
let isScheduled = false;
let queue = [];
let loadedSeq = 0;

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
  for (const [kind, data, seq] of events) apply(kind, data, seq);
  const topics = [...changed];
  changed.clear();
  for (const topic of topics) for (const listener of listeners.get(topic) ?? []) listener();
}

function apply(kind, data, seq) {
  if (kind === 'run') {
    if (seq >= loadedSeq) takeRun(data);
  } else if (kind === 'event' || kind === 'hook') {
    if (state.open?.take(data)) touch('open');
  } else if (kind === 'approval') {
    takeApproval(data);
  } else if (kind === 'resync') {
    state.connection = 'resync';
    touch('connection');
    reload();
  }
}

function takeRun(run) {
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

function takeApproval({ id, state: now, approval, decided }) {
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

/** Loads everything again. */
export async function reload() {
  try {
    const [agents, runs] = await Promise.all([api.agents(), api.runs()]);
    state.agents = agents.agents;
    state.runs = new Map(runs.runs.map((run) => [run.run, run]));
    loadedSeq = runs.seq;
    await reloadApprovals();
    if (state.open) await openRun(state.open.id);
    state.error = null;
    state.isLoaded = true;
    if (state.connection === 'resync') state.connection = 'live';
  } catch (error) {
    state.error = error;
  }
  for (const topic of ['agents', 'runs', 'connection']) touch(topic);
}

/** Loads the approvals again. */
export async function reloadApprovals() {
  const { waiting, decided } = await api.approvals();
  state.waiting = new Map(waiting.map((it) => [it.id, it]));
  state.decided = decided.sort((one, other) => other.at - one.at);
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

/** Begins to read. */
export function start() {
  connect({
    take: (kind, data, seq) => {
      queue.push([kind, data, seq]);
      schedule();
    },
    state: (name) => {
      state.connection = name;
      touch('connection');
    },
    reopened: reload,
  });
  return reload();
}
