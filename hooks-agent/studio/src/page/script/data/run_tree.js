// What happened in one run, as a tree that grows entry by entry.

import { isQuiet, textOf } from './entry.js';
import { nodeOf } from './node.js';
import { wholeRequest } from './request.js';
import { drafts, grow, hide, hideTexts, settleTexts } from './texts.js';

const IN_TOOL = new Set(['PRE_ACTING', 'ACTING_CHUNK', 'POST_ACTING', 'TOOL_CALL']);
const BEFORE_MODEL = new Set(['PRE_REASONING', 'PRE_SUMMARY']);
const IN_ROUND = new Set(['MODEL_CALL', 'REASONING_CHUNK', 'POST_REASONING', 'SUMMARY_CHUNK',
  'POST_SUMMARY', 'ERROR']);

export class RunTree {
  kind = 'run';
  children = [];
  summary = null;
  at = null;
  end = null;
  round = null;
  /** The last request that is known whole. */
  asked = null;
  rounds = 0;
  errors = 0;
  tools = new Map();
  /** Runs whose tool call is not known yet. */
  orphans = new Map();

  constructor(run, agent, view) {
    Object.assign(this, { run, agent, view, key: `run:${run}` });
  }

  takeSummary(summary) {
    const isNew = this.summary?.state !== summary.state;
    this.summary = summary;
    this.at = summary.started ?? this.at;
    this.end = summary.ended ?? null;
    return isNew;
  }

  adopt(tree, toolCall) {
    const tool = this.tools.get(toolCall);
    (tool ?? this).children.push(tree);
    if (!tool && toolCall) this.orphans.set(toolCall, tree);
  }

  adoptOrphan(tool) {
    const tree = this.orphans.get(tool.id);
    if (!tree) return;
    this.orphans.delete(tool.id);
    this.drop(this, tree);
    tool.children.push(tree);
  }

  take(entry) {
    this.at ??= entry.ts;
    this.seq ??= entry.seq;
    this.now = entry.seq;
    this.touched = null;
    const take = this[`on_${entry.type}`];
    if (take) take.call(this, entry, entry.data ?? {});
    else this.add(this.round ?? this, nodeOf(this.keyOf(entry), 'note', entry.ts, { entry }));
    this.view.places.set(entry.seq, this.touched ?? this.round ?? this);
  }

  keyOf(entry) {
    return `${this.run}:${entry.seq}`;
  }

  add(parent, node) {
    parent.children.push(node);
    node.seq = this.now;
    this.touched ??= node;
    this.view.version += 1;
    return node;
  }

  changed(node) {
    this.touched ??= node;
    this.view.dirty.add(node);
  }

  beginRound(entry) {
    this.closeRound(entry.ts);
    this.rounds += 1;
    const more = { number: this.rounds, end: null, request: null, usage: null, attempts: [] };
    this.round = this.add(this, nodeOf(`${this.run}:round:${this.rounds}`, 'round', entry.ts, more));
    return this.round;
  }

  closeRound(at) {
    if (this.round && this.round.end === null) {
      this.round.end = at;
      this.view.dirty.add(this.round);
    }
  }

  /** The round whose model was not called yet, or a new one. */
  freshRound(entry) {
    const { round } = this;
    return round && !round.isBusy && !round.isResumed ? round : this.beginRound(entry);
  }

  /** The round in which tools run: without a model, if the run resumes another one. */
  toolRound(entry) {
    if (this.round) return this.round;
    const more = { isResumed: true, end: null, attempts: [] };
    this.round = this.add(this, nodeOf(`${this.run}:resumed`, 'round', entry.ts, more));
    return this.round;
  }

  on_started() {}

  on_input(entry, data) {
    const messages = data.messages ?? (data.hidden ? [{ role: 'user', hidden: true }] : []);
    if (messages.length) this.add(this, nodeOf(this.keyOf(entry), 'input', entry.ts, { messages }));
  }

  on_request(entry, data) {
    // What streamed without an answer at its end was not used: hooks never saw it.
    for (const draft of drafts(this.round)) hide(draft, draft.text.length);
    const round = this.round?.request ? this.beginRound(entry) : this.freshRound(entry);
    Object.assign(round, { request: data, asked: entry.ts, seq: entry.seq });
    this.changed(round);
  }

  on_model_request(entry, data) {
    this.asked = wholeRequest(this.asked, data);
    const round = this.round ?? this.beginRound(entry);
    this.add(round, nodeOf(this.keyOf(entry), 'request', entry.ts, { whole: this.asked }));
  }

  // Attempts to have an answer of the model: rows of their own once one of the round failed.

  attempt(entry, data) {
    const round = this.round ?? this.beginRound(entry);
    const known = round.attempts.findLast((it) => it.attempt === data.attempt);
    if (known) return known;
    const more = { attempt: data.attempt, state: 'running', first: null, end: null, seq: entry.seq };
    const made = nodeOf(this.keyOf(entry), 'attempt', entry.ts, more);
    round.attempts.push(made);
    if (data.attempt > 1) this.add(round, made);
    return made;
  }

  noteAttempt(entry, { model, ...data }, more) {
    const attempt = Object.assign(this.attempt(entry, data), more);
    attempt.model = model ?? attempt.model;
    const { children } = this.round;
    if (attempt.state === 'failed' && !children.includes(attempt)) this.add(this.round, attempt);
    if (children.includes(attempt)) this.changed(attempt);
    this.changed(this.round);
  }

  on_model_started(entry, data) {
    this.noteAttempt(entry, data);
  }

  on_model_first(entry, data) {
    this.noteAttempt(entry, data, { first: entry.ts });
  }

  on_model_finished(entry, data) {
    this.noteAttempt(entry, data, { state: 'done', end: entry.ts, usage: data.usage });
  }

  on_model_failed(entry, data) {
    this.noteAttempt(entry, data, { state: 'failed', end: entry.ts, failure: data });
  }

  on_reasoning_started(entry) {
    this.freshRound(entry).isBusy = true;
  }

  on_summary_started(entry) {
    this.changed(Object.assign(this.freshRound(entry), { isBusy: true, label: 'Summary' }));
  }

  on_reasoning_chunk(entry, block) {
    const round = this.round ?? this.beginRound(entry);
    round.isBusy = true;
    round.first ??= entry.ts;
    if (block.type === 'tool_use') this.plan(round, block, entry);
    else grow(this, round, entry, block);
  }

  on_summary_chunk(entry, block) {
    this.on_reasoning_chunk(entry, block);
  }

  on_reasoned(entry, msg) {
    const round = this.round ?? this.beginRound(entry);
    round.isBusy = true;
    round.usage = msg.usage ?? null;
    round.said = entry.ts;
    round.isHidden = msg.hidden;
    if (msg.hidden) hideTexts(this, round, entry, msg.chars);
    else settleTexts(this, round, entry, msg.content);
    const calls = msg.hidden ? msg.tools ?? [] : msg.content.filter((it) => it.type === 'tool_use');
    for (const call of calls) this.plan(round, call, entry);
    this.changed(round);
  }

  on_summarized(entry, msg) {
    this.on_reasoned(entry, msg);
  }

  drop(parent, node) {
    parent.children.splice(parent.children.indexOf(node), 1);
    this.view.version += 1;
  }

  plan(round, call, entry) {
    const known = this.tools.get(call.id);
    // An id of a model may come again in a later answer.
    if (known && known.round === round && known.result === undefined) {
      this.describe(known, call);
      this.changed(known);
      return known;
    }
    const more = { id: call.id, name: '', state: 'planned', begin: null, end: null, round };
    const tool = this.add(round, nodeOf(`${this.keyOf(entry)}:${call.id}`, 'tool', entry.ts, more));
    this.describe(tool, call);
    this.tools.set(call.id, tool);
    this.adoptOrphan(tool);
    return tool;
  }

  describe(tool, call) {
    tool.name = call.name ?? tool.name;
    tool.input = call.input ?? tool.input;
    tool.invalid = call.invalid_input;
    tool.hidden = call.hidden ? call.chars : undefined;
    this.changed(tool);
  }

  tool(entry, call) {
    return this.tools.get(call.id) ?? this.plan(this.toolRound(entry), call, entry);
  }

  on_tool_started(entry, call) {
    let tool = this.tool(entry, call);
    if (tool.result !== undefined) tool = this.plan(this.toolRound(entry), call, entry);
    Object.assign(tool, { state: 'running', begin: entry.ts, seq: entry.seq });
    this.describe(tool, call);
  }

  on_tool_chunk(entry, { call, text, chars }) {
    const tool = this.tool(entry, call);
    this.add(tool, nodeOf(this.keyOf(entry), 'progress', entry.ts, { text, chars }));
  }

  on_tool_finished(entry, result) {
    const tool = this.tool(entry, result);
    const state = result.is_error ? (tool.begin ? 'failed' : 'refused') : 'done';
    if (result.is_error) this.errors += 1;
    Object.assign(tool, { name: result.name, state, end: entry.ts, result });
    this.add(tool, nodeOf(this.keyOf(entry), 'result', entry.ts, { result }));
    this.changed(tool);
  }

  on_permission_asked(entry, pending) {
    const [top] = String(pending.id ?? '').split('/');
    const tool = this.tools.get(pending.id) ?? this.tools.get(top) ?? this.tool(entry, pending.call);
    Object.assign(tool, { state: 'waiting', end: entry.ts });
    const more = { pending, tree: this };
    this.add(tool, nodeOf(this.keyOf(entry), 'asked', entry.ts, more));
    this.changed(tool);
  }

  on_hook(entry, data) {
    const parent = this.placeOf(entry, data);
    // The entry is the hook's, also if a round began with it.
    this.touched = null;
    if (!isQuiet(data)) {
      this.add(parent, nodeOf(this.keyOf(entry), 'hook', entry.ts, { hook: data }));
      return;
    }
    let group = parent.children.at(-1);
    if (group?.kind !== 'hooks') {
      group = this.add(parent, nodeOf(this.keyOf(entry), 'hooks', entry.ts, { us: 0 }));
    }
    group.us += data.us ?? 0;
    this.add(group, nodeOf(`${this.keyOf(entry)}:one`, 'hook', entry.ts, { hook: data }));
    this.changed(group);
  }

  placeOf(entry, data) {
    const id = data.tool_call;
    if (IN_TOOL.has(data.event) || (data.event === 'ERROR' && id)) {
      return id ? this.tool(entry, { id }) : this.round ?? this;
    }
    if (BEFORE_MODEL.has(data.event)) return this.freshRound(entry);
    return IN_ROUND.has(data.event) ? this.round ?? this : this;
  }

  on_finished(entry, msg) {
    this.closeRound(entry.ts);
    const last = this.round?.children.findLast((it) => it.kind === 'text');
    const text = textOf(msg);
    this.reason = msg.reason;
    this.isHidden = msg.hidden;
    if (!text || last?.text === text) return;
    this.add(this, nodeOf(this.keyOf(entry), 'reply', entry.ts, { text }));
  }

  on_permission_remembered(entry, data) {
    const tool = this.tools.get(data.id);
    if (!tool) return;
    this.add(tool, nodeOf(this.keyOf(entry), 'remembered', entry.ts, { by: data.by }));
  }

  on_resumed(entry, data) {
    this.resumedAt = entry.ts;
    this.add(this, nodeOf(this.keyOf(entry), 'resumed', entry.ts, { by: data.by, tree: this }));
  }

  on_given_up(entry) {
    this.add(this, nodeOf(this.keyOf(entry), 'given_up', entry.ts, {}));
  }

  on_failed(entry, data) {
    this.closeRound(entry.ts);
    this.failure = data;
  }

  on_settled(entry, data) {
    this.closeRound(entry.ts);
    // Hooks that did not see an answer to its end may have hidden it meanwhile.
    const unseen = drafts(this.round);
    if (this.view.isLoaded && unseen.length) this.view.isStale = true;
    for (const draft of unseen) Object.assign(draft, { isWhole: true, isGrowing: false });
    for (const attempt of this.round?.attempts ?? []) {
      if (attempt.end === null) Object.assign(attempt, { state: 'cut', end: entry.ts });
    }
    for (const tool of this.tools.values()) {
      if (tool.state !== 'running' && tool.state !== 'planned') continue;
      Object.assign(tool, { state: tool.begin ? 'cut' : 'not run', end: tool.begin && entry.ts });
      this.changed(tool);
    }
    const more = { settled: { reason: this.reason, failure: this.failure, ...data }, tree: this };
    this.add(this, nodeOf(this.keyOf(entry), 'settled', entry.ts, more));
  }
}
