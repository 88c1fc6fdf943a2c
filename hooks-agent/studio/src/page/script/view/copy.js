// Copies of what is shown, and the buttons of a row.

import { announce, button, h } from './dom.js';
import { outputOf, textOf } from './entry.js';
import { shown } from './format.js';

export async function copy(text, what) {
  const safe = shown(text);
  try {
    await navigator.clipboard.writeText(safe);
  } catch {
    // Without TLS, a browser has no clipboard for scripts.
    const field = h('textarea.unseen', { value: safe, readOnly: true });
    const before = document.activeElement;
    document.body.append(field);
    field.select();
    const isDone = document.execCommand('copy');
    field.remove();
    before?.focus({ preventScroll: true });
    if (!isDone) {
      announce('The browser does not let this page copy.');
      return false;
    }
  }
  announce(`${what} copied`);
  return true;
}

/** A button that copies what `text()` returns. */
export function copyButton(label, text, what = label) {
  const made = button(label, async () => {
    if (!await copy(text(), what)) return;
    made.textContent = 'Copied';
    setTimeout(() => { made.textContent = label; }, 1200);
  }, '.link');
  return made;
}

const json = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? '');

function textIn(node) {
  if (node.result) return outputOf(node.result.output).text;
  if (node.kind === 'tool') return json(node.invalid ?? node.input);
  if (node.kind === 'input') return node.messages.map(textOf).join('\n\n');
  if (node.hook?.changed?.length) return json(node.hook.changed);
  return node.text ?? node.failure?.text ?? node.settled?.failure?.text ?? '';
}

export function copyRow(node) {
  const text = textIn(node);
  if (text) copy(text, 'The text is');
  else announce('There is nothing to copy in this row.');
}

/** The buttons of the row under the pointer, or of the one with the focus. */
export class RowTools {
  /** `rowOf(element)` returns a row, `link(row)` its address. */
  constructor(tree, rowOf, link) {
    const copyIt = copyButton('Copy', () => textIn(rowOf(this.element).node), 'The text is');
    this.link = link;
    const linkTo = h('a.link', { onclick: () => this.copyLink(rowOf(this.element).node) }, 'Link');
    this.element = h('span.row-tools', { role: 'group' }, copyIt, linkTo);
    const place = (row) => {
      if (!row || row === this.element.parentElement || this.element.contains(document.activeElement)) {
        return;
      }
      row.append(this.element);
      const { node } = rowOf(row);
      copyIt.hidden = !textIn(node);
      linkTo.href = link(node);
      linkTo.ariaLabel = 'Link to this row';
    };
    const focused = () => place(document.activeElement?.closest('.row'));
    tree.addEventListener('pointerover', (event) => place(event.target.closest('.row')));
    tree.addEventListener('pointerleave', focused);
    tree.addEventListener('focusin', focused);
    tree.addEventListener('keydown', focused);
  }

  copyLink(node) {
    copy(`${location.origin}/${this.link(node)}`, 'The link is');
  }

  follow(node) {
    location.hash = this.link(node);
    this.copyLink(node);
  }
}
