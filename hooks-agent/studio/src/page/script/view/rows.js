// The rows of a run: their elements.

import { longText } from './code.js';
import { fill, h, icon, say } from './dom.js';
import { duration, shown } from './format.js';
import { KINDS } from './kinds.js';
import { spansOf } from './spans.js';

export function renderRow(row, toggle) {
  const twist = h('span.twist', { 'aria-hidden': 'true', onclick: () => toggle(row.key) });
  const head = h('div.head', {}, twist);
  const [word, after] = [h('span.unseen'), h('span.unseen')];
  const bar = h('span.bar', { 'aria-hidden': 'true' });
  const time = h('span.time', { 'aria-hidden': 'true' });
  const body = h('div.body');
  const element = h(`div.row.k-${row.node.kind}`, { role: 'treeitem', tabIndex: -1,
    data: { key: row.key } }, word, head, after, time, bar, body);
  element.parts = { twist, word, head, after, bar, time, body };
  element.style.setProperty('--depth', row.depth);
  updateRow(element, row);
  return element;
}

export function updateRow(element, row) {
  const { node, hasChildren, isOpen } = row;
  const { twist, word, head, after, time, body } = element.parts;
  const told = KINDS[node.kind](node);
  element.ariaLevel = row.depth + 1;
  // There are more than are in the document.
  element.ariaPosInSet = row.position;
  element.ariaSetSize = -1;
  element.classList.toggle('is-error', Boolean(node.result?.is_error || node.failure));
  element.classList.toggle('is-growing', node.isGrowing === true);
  element.ariaExpanded = hasChildren ? isOpen : null;
  fill(twist, hasChildren && icon('chevron'));
  element.spans = spansOf(node);
  if (told.text === undefined) {
    element.streamed = null;
    fill(head, twist, told.icon !== 'none' && icon(told.icon), told.parts);
    fill(body, told.body);
  } else {
    grow(element, told);
  }
  const [span] = element.spans;
  const took = span ? (span.to === null ? '' : duration(span.to - span.from)) : told.time;
  say(time, told.time ?? took ?? '');
  // A screen reader says the words around the line, and of bodies only texts that are whole.
  say(word, told.word ? `${told.word} ` : '');
  say(after, [told.after, took].filter(Boolean).map((it) => `, ${it}`).join(''));
  body.role = told.text === undefined || node.isGrowing ? 'group' : null;
}

/** A text that streams is appended to; a screen reader and a selection keep their place. */
function grow(element, { text, icon: name }) {
  const { twist, head, body } = element.parts;
  const safe = shown(text);
  const node = element.streamed;
  if (node?.isConnected && safe.startsWith(node.data)) {
    if (safe.length > node.data.length) node.appendData(safe.slice(node.data.length));
    return;
  }
  fill(head, twist, icon(name));
  if (safe.length > 20_000) {
    element.streamed = null;
    fill(body, longText('div.prose', text));
    return;
  }
  element.streamed = document.createTextNode(safe);
  fill(body, h('div.prose', {}, element.streamed));
}
