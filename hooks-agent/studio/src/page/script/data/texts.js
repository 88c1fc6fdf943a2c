// What the model says and thinks in a round: while it streams, and as hooks left it.

import { nodeOf } from './node.js';

/** Texts of the round whose answer is not whole. */
export function drafts(round) {
  return round?.children.filter((it) => it.isSaid && !it.isWhole) ?? [];
}

export function hide(node, chars) {
  Object.assign(node, { text: '', hidden: chars, isWhole: true, isGrowing: false });
}

export function grow(tree, round, entry, block) {
  const kind = block.type === 'text' ? 'text' : 'thinking';
  let last = round.children.findLast((it) => it.isSaid);
  if (last?.kind !== kind || last.isWhole) {
    const said = { text: '', hidden: 0, isSaid: true, isGrowing: true };
    last = tree.add(round, nodeOf(tree.keyOf(entry), kind, entry.ts, said));
  }
  last.text += block.text ?? block.thinking ?? '';
  last.hidden += block.hidden ? block.chars ?? 0 : 0;
  tree.changed(last);
}

export function settleTexts(tree, round, entry, content) {
  const streamed = drafts(round);
  let index = 0;
  for (const block of content) {
    const kind = { text: 'text', thinking: 'thinking' }[block.type];
    if (!kind) continue;
    const text = block.text ?? block.thinking ?? '';
    while (streamed[index] && streamed[index].kind !== kind) tree.drop(round, streamed[index++]);
    const known = streamed[index++];
    const said = { text, hidden: 0, isSaid: true, isWhole: true, isGrowing: false };
    if (known) tree.changed(Object.assign(known, said));
    else tree.add(round, nodeOf(`${tree.keyOf(entry)}:${index}`, kind, entry.ts, said));
  }
  for (const rest of streamed.slice(index)) tree.drop(round, rest);
}

/** The answer is not shown: only how long it is. */
export function hideTexts(tree, round, entry, chars) {
  const streamed = drafts(round);
  for (const draft of streamed) hide(draft, draft.hidden || draft.text.length);
  if (streamed.length || !chars) return;
  const said = { text: '', hidden: chars, isSaid: true, isWhole: true };
  tree.add(round, nodeOf(tree.keyOf(entry), 'text', entry.ts, said));
}
