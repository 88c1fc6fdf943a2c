// What happened in one run, as a tree that grows entry by entry.

import { isQuiet, textOf } from './entry.js';
import { nodeOf } from './node.js';
import { drafts, grow, hide, hideTexts, settleTexts } from './texts.js';

const IN_TOOL = new Set(['PRE_ACTING', 'ACTING_CHUNK', 'POST_ACTING', 'TOOL_CALL']);
const BEFORE_MODEL = new Set(['PRE_REASONING', 'PRE_SUMMARY']);
const IN_ROUND = new Set(['MODEL_CALL', 'REASONING_CHUNK', 'POST_REASONING', 'SUMMARY_CHUNK',
  'POST_SUMMARY', 'ERROR']);

export class RunTree {
  constructor(run, agent, view) {
    this.run = run;
    this.agent = agent;
    this.view = view;
    this.key = `run:${run}`;
    this.kind = 'run';
    this.children = [];
    this.summary = null;
    this.at = null;
    this.end = null;
    this.round = null;
    this.rounds = 0;
    this.tools = new Map();
    /** Runs whose tool call is not known yet. */
    this.orphans = new Map();
  }

  takeSummary(summary) {
    const isNew = this.summary?.state !== summary.state;
    this.summary = summary;
    this.at = summary.started ?? this.at;
    this.end = summary.ended ?? null;
    return isNew;
  }

  /** Puts the run of a sub-agent below the tool call that it serves. */
  adopt(tree, toolCall) {
    const tool = this.tools.get(toolCall);
    (tool ?? this).children.push(tree);
    if (!tool && toolCall) this.orphans.set(toolCall, tree);
  }

  /** Moves the run that came before its tool call. */
  adoptOrphan(tool) {
    const tree = this.orphans.get(tool.id);
    if (!tree) return;
    this.orphans.delete(tool.id);
    this.drop(this, tree);
    tool.children.push(tree);
  }

  take(entry) {
    this.at ??= entry.ts;
    const take = this[`on_${entry.type}`];
    if (take) take.call(this, entry, entry.data ?? {});
    else this.add(this.round ?? this, nodeOf(this.keyOf(entry), 'note', entry.ts, { entry }));
  }

  keyOf(entry) {
    return `${this.run}:${entry.seq}`;
  }

  add(parent, node) {
    parent.children.push(node);
    this.view.version += 1;
    return node;
  }

  changed(node) {
    this.view.dirty.add(node);
  }

  // Rounds.

  beginRound(entry, label) {
    this.closeRound(entry.ts);
    this.rounds += 1;
    const more = { number: this.rounds, label, end: null, request: null, usage: null };
    this.round = this.add(this, nodeOf(`${this.run}:round:${this.rounds}`, 'round', entry.ts, more));
    return this.round;
  }

  closeRound(at) {
    if (this.round && this.round.end === null) {
      this.round.end = at;
      this.changed(this.round);
    }
  }

  /** The round whose model was not called yet, or a new one. */
  freshRound(entry, label) {
    const { round } = this;
    return round && !round.isBusy && !round.isResumed ? round : this.beginRound(entry, label);
  }

  /** The round in which tools run: without a model, if the run resumes another one. */
  toolRound(entry) {
    if (this.round) return this.round;
    const more = { isResumed: true, end: null };
    this.round = this.add(this, nodeOf(`${this.run}:resumed`, 'round', entry.ts, more));
    return this.round;
  }

  on_started() {}

  on_input(entry, data) {
    const messages = data.messages ?? [];
    if (messages.length) this.add(this, nodeOf(this.keyOf(entry), 'input', entry.ts, { messages }));
  }

  on_request(entry, data) {
    // What streamed without an answer at its end was not used: hooks never saw it.
    for (const draft of drafts(this.round)) hide(draft, draft.text.length);
    const round = this.round?.request ? this.beginRound(entry) : this.freshRound(entry);
    round.request = data;
    this.changed(round);
  }

  on_reasoning_started(entry) {
    const round = this.freshRound(entry);
    round.isBusy = true;
  }

  on_summary_started(entry) {
    const round = this.freshRound(entry, 'Summary');
    round.isBusy = true;
    round.label = 'Summary';
    this.changed(round);
  }

  on_reasoning_chunk(entry, block) {
    const round = this.round ?? this.beginRound(entry);
    round.isBusy = true;
    if (block.type === 'tool_use') {
      this.plan(round, block, entry);
    } else {
      grow(this, round, entry, block);
    }
  }

  on_summary_chunk(entry, block) {
    this.on_reasoning_chunk(entry, block);
  }

  on_reasoned(entry, msg) {
    const round = this.round ?? this.beginRound(entry);
    round.isBusy = true;
    round.usage = msg.usage ?? null;
    round.said = entry.ts;
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

  // Tools.

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
    Object.assign(tool, { state: 'running', begin: entry.ts });
    this.describe(tool, call);
  }

  on_tool_chunk(entry, { call, text, chars }) {
    const tool = this.tool(entry, call);
    this.add(tool, nodeOf(this.keyOf(entry), 'progress', entry.ts, { text, chars }));
  }

  on_tool_finished(entry, result) {
    const tool = this.tool(entry, result);
    const state = result.is_error ? (tool.begin ? 'failed' : 'refused') : 'done';
    Object.assign(tool, { name: result.name, state, end: entry.ts, result });
    this.add(tool, nodeOf(this.keyOf(entry), 'result', entry.ts, { result }));
    this.changed(tool);
  }

  on_permission_asked(entry, pending) {
    const [top] = String(pending.id ?? '').split('/');
    const tool = this.tools.get(pending.id) ?? this.tools.get(top) ?? this.tool(entry, pending.call);
    Object.assign(tool, { state: 'waiting', end: entry.ts });
    const more = { pending, run: this.run };
    this.add(tool, nodeOf(this.keyOf(entry), 'asked', entry.ts, more));
    this.changed(tool);
  }

  // Hooks.

  on_hook(entry, data) {
    const parent = this.placeOf(entry, data);
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

  // The end.

  on_finished(entry, msg) {
    this.closeRound(entry.ts);
    const last = this.round?.children.findLast((it) => it.kind === 'text');
    const text = textOf(msg);
    this.reason = msg.reason;
    if (!text || last?.text === text) return;
    this.add(this, nodeOf(this.keyOf(entry), 'reply', entry.ts, { text }));
  }

  on_permission_remembered(entry, data) {
    const tool = this.tools.get(data.id);
    if (!tool) return;
    this.add(tool, nodeOf(this.keyOf(entry), 'remembered', entry.ts, { by: data.by }));
  }

  on_resumed(entry, data) {
    this.add(this, nodeOf(this.keyOf(entry), 'resumed', entry.ts, { by: data.by }));
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
    for (const tool of this.tools.values()) {
      if (tool.state !== 'running' && tool.state !== 'planned') continue;
      Object.assign(tool, { state: tool.begin ? 'cut' : 'not run', end: tool.begin && entry.ts });
      this.changed(tool);
    }
    const more = { settled: { reason: this.reason, failure: this.failure, ...data } };
    this.add(this, nodeOf(this.keyOf(entry), 'settled', entry.ts, more));
  }
}
