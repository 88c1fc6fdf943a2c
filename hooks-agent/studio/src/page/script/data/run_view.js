// A run with the runs below it, as trees of what happened.

import { RunTree } from './run_tree.js';

export class RunView {
  constructor(id) {
    this.id = id;
    this.trees = new Map();
    /** Whether a node is open, by its key, where a person chose. */
    this.folds = new Map();
    this.isLoaded = false;
    /** Whether the program has another text by now. */
    this.isStale = false;
    this.error = null;
    /** Entries that came while the run was loading. */
    this.early = null;
    this.seq = 0;
    /** Changes with each change of the structure. */
    this.version = 0;
    /** Nodes whose text or state changed since they were drawn. */
    this.dirty = new Set();
  }

  /** Forgets what it has, but not what a person folded. */
  clear() {
    this.trees.clear();
    this.dirty.clear();
    this.seq = 0;
    this.version += 1;
  }

  get tree() {
    return this.trees.get(this.id);
  }

  load({ seq, runs, entries }) {
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
