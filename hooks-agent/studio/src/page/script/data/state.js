// What the page knows: runs, agents, approvals, and the entries of the run that is open.

import { api } from './api.js';
import { shown } from './format.js';
import { Live } from './live.js';
import { RunView } from './run_view.js';

const MOST_RUNS = 1000;
const MOST_DECIDED = 100;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 15_000;

export const state = {
  runs: new Map(),
  agents: [],
  /** Whether a store keeps runs that the list does not have. */
  hasHistory: false,
  /** Who looks at the page, and whether they may act; nobody does before it is known. */
  viewer: { user: null, acts: false },
  waiting: new Map(),
  decided: [],
  hasLoaded: false,
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
  return [...state.runs.values()].reduce((one, other) => (other.started < one.started ? other : one)).run;
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

/** What the roles of a person do not let them see is not there for them. */
const ifSeen = (asked, none) => asked.catch((error) => {
  if (error.code !== 'viewer') throw error;
  return none;
});

/** Loads everything again. Returns the number of the last entry that is in it, or `null`. */
export async function reload() {
  let seq = null;
  try {
    const [agents, runs] = await Promise.all([api.agents(),
      ifSeen(api.runs(), { seq: 0, runs: [] })]);
    state.agents = agents.agents;
    state.hasHistory = agents.history === true;
    state.viewer = agents.viewer ?? { user: null, acts: true };
    state.runs = new Map(runs.runs.map((run) => [run.run, run]));
    state.hasLoaded = true;
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
    const { waiting, decided } = await ifSeen(api.approvals(), { waiting: [], decided: [] });
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

export function closeRun() {
  state.open = null;
}

/** Whether the person may decide, write, steer, interrupt, revoke, fork and rewind. */
export const mayAct = () => state.viewer.acts;

const PARTS = ['overview', 'runs', 'threads', 'approvals', 'hooks'];

/** Whether a view is for the person, if the program says which are. */
export const sees = (view) => !PARTS.includes(view) || (state.viewer.parts?.includes(view) ?? true);

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
  for (const it of run.parent ? [] : state.runs.values()) {
    if (it.title && it.agent === run.agent && it.thread === run.thread && it.started <= run.started
      && !(before?.started > it.started)) before = it;
  }
  return before ? `Resumed: ${shown(before.title)}` : `Run ${run.run.slice(0, 8)}`;
}

let live = null;

/** Joins the stream, loads what there is and listens from there; again, if the stream ends. */
export async function start(delay = FIRST_DELAY) {
  const connection = (name) => {
    state.connection = name;
    touch('connection');
  };
  leave();
  const joined = new Live({
    take(kind, data) {
      queue.push([kind, data]);
      schedule();
    },
    open: () => connection('live'),
    broken: () => connection('reconnecting'),
    closed: () => setTimeout(start, delay),
  });
  live = joined;
  const seq = await reload();
  // The page was left meanwhile, or begins anew.
  if (live !== joined) return;
  if (seq !== null) {
    joined.begin(seq);
    return;
  }
  leave();
  connection('reconnecting');
  setTimeout(() => start(Math.min(delay * 2, LONGEST_DELAY)), delay);
}

function leave() {
  live?.leave();
  live = null;
}

addEventListener('pagehide', leave);
// A browser may keep a page that a person left, and bring it back.
addEventListener('pageshow', ({ persisted }) => persisted && start());
