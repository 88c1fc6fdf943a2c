// Nodes of the tree of a run.

/** Makes a node: its `key`, its `kind`, when it began (ms), its children, and what its kind holds. */
export function nodeOf(key, kind, at, more) {
  return { key, kind, at, children: [], ...more };
}

export function countQuiet(node) {
  if (!node) return 0;
  if (node.kind === 'hooks') return node.children.length;
  return node.children.reduce((sum, it) => sum + countQuiet(it), 0);
}

export function pathTo(root, node) {
  if (!root || !node) return null;
  for (const child of root.children) {
    if (child === node) return [child];
    const rest = pathTo(child, node);
    if (rest) return [child, ...rest];
  }
  return null;
}
