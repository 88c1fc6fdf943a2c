// A node of the tree of a run.

/** Makes a node: its `key`, its `kind`, when it began (ms), its children, and what its kind holds. */
export function nodeOf(key, kind, at, more) {
  return { key, kind, at, children: [], ...more };
}
