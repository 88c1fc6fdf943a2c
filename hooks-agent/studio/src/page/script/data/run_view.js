// A run with the runs below it, as trees of what happened.

import { RunTree } from './run_tree.js';

export class RunView {
  trees = new Map();
  /** Whether a node is open, by its key, where a person chose. */
  folds = new Map();
  isLoaded = false;
  /** Whether a store has it, and nothing of it happens any more. */
  isPast = false;
  /** Whether the program has another text by now. */
  isStale = false;
  error = null;
  /** Entries that came while the run was loading. */
  early = null;
  seq = 0;
  /** Changes with each change of the structure. */
  version = 0;
  /** Nodes whose text or state changed since they were drawn. */
  dirty = new Set();
  /** The node that an entry is in, by the number of the entry. */
  places = new Map();

  constructor(id) {
    this.id = id;
  }

  /** The node of the entry of this number, or of the last one before it that is kept. */
  placeOf(seq) {
    let best = -1;
    for (const at of this.places.keys()) if (at <= seq && at > best) best = at;
    return this.places.get(best) ?? null;
  }

  /** Forgets what it has, but not what a person folded. */
  clear() {
    this.trees.clear();
    this.dirty.clear();
    this.places.clear();
    this.seq = 0;
    this.version += 1;
  }

  get tree() {
    return this.trees.get(this.id);
  }

  load({ seq, runs, entries, from }) {
    this.isPast = from === 'history';
    // The entries first: a run has its place below a tool call that an entry brings.
    for (const entry of entries) this.take(entry);
    for (const run of runs) this.takeRun(run);
    // Entries may be merged, so the last of them does not tell how far they go.
    this.seq = Math.max(this.seq, seq);
    this.isLoaded = true;
  }

  /** Takes the summary of a run; false if it is of another tree of runs. */
  takeRun(run) {
    const known = this.trees.get(run.run);
    if (!known && !this.isOurs(run)) return false;
    const tree = known ?? this.plant(run);
    if (tree.summary?.events > run.events) return false;
    if (tree.takeSummary(run)) this.version += 1;
    this.dirty.add(tree);
    return true;
  }

  /** Takes an entry; false if it is of another run, or known. */
  take(entry) {
    if (this.early) this.early.push(entry);
    if (entry.seq <= this.seq) return false;
    const known = this.trees.get(entry.run);
    if (!known && !this.isOurs(entry)) return false;
    const tree = known ?? this.plant(entry);
    this.seq = entry.seq;
    tree.take(entry);
    return true;
  }

  isOurs({ run, parent }) {
    return run === this.id || (parent !== undefined && this.trees.has(parent));
  }

  plant({ run, agent, parent, tool_call: toolCall }) {
    const tree = new RunTree(run, agent, this);
    this.trees.set(run, tree);
    this.version += 1;
    if (run !== this.id) this.trees.get(parent)?.adopt(tree, toolCall);
    return tree;
  }
}
