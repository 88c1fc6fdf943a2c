// The keyboard, and the page that explains it.

import { button, h } from './dom.js';

const KEYS = [
  ['j k', 'next, previous run or entry'],
  ['↓ ↑', 'the same'],
  ['Home End', 'first, last entry'],
  ['Enter', 'open the run; open or close the entry'],
  ['→ ←', 'open, close the entry'],
  ['x X', 'next, previous failure of the run, or difference'],
  ['c l', 'copy the text of the entry, its link'],
  ['+ - 0', 'more, less, all of the time of the run'],
  ['Esc', 'from an entry to the list; close what is open'],
  ['/', 'search runs, or hooks'],
  ['a', 'to the first waiting approval'],
  ['e d', 'on an approval: edit, deny'],
  ['g then r c a h k', 'runs, conversations, approvals, agents, hooks'],
  ['t', 'colours: as the system, light, dark'],
  ['?', 'this page'],
];

export function showHelp() {
  const dialog = h('dialog.help', { ariaLabel: 'Keyboard' },
    h('h2', {}, 'Keyboard'),
    h('dl', {}, KEYS.map(([keys, what]) => h('div', {},
      h('dt', {}, keys.split(' ').map((it) => (it === 'then' ? ' then ' : h('kbd', {}, it)))),
      h('dd', {}, what)))),
    button('Close', () => dialog.close(), '.primary'));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Handles keys: `page` has the lists, and says which one the keys move in. */
export function listenKeys(page) {
  let isGoing = false;
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog')) return;
    const { target, key } = event;
    if (target.matches?.('input, textarea, select')) {
      if (key === 'Escape') leaveField(target);
      return;
    }
    const place = isGoing && GO[key];
    isGoing = key === 'g' && !place;
    if (place) location.hash = place;
    else if (isGoing || !press(page, target, key)) return;
    event.preventDefault();
  });
}

const GO = { r: '#/', c: '#/threads', a: '#/approvals', h: '#/agents', k: '#/hooks' };

function leaveField(field) {
  field.blur();
  field.closest('.card')?.focus();
}

function press(page, target, key) {
  const row = target.closest?.('.row');
  const card = target.closest?.('.card');
  const isControl = target.matches?.('button, a, summary') && !target.matches('.run');
  switch (key) {
    case 'j': case 'ArrowDown': return page.move(1, target);
    case 'k': case 'ArrowUp': return page.move(-1, target);
    case 'Home': return row ? page.move(-Infinity, target) : false;
    case 'End': return row ? page.move(Infinity, target) : false;
    case 'ArrowRight': return row ? page.fold(row, true) : false;
    case 'ArrowLeft': return row ? page.fold(row, false) : false;
    case 'Enter': return row && !isControl ? page.fold(row) : false;
    case 'Escape': return page.leave(target);
    case 'a': return page.approvals();
    case 'e': return card ? pressButton(card, 'Edit') : false;
    case 'd': return card ? pressButton(card, 'Deny') : false;
    case '/': return page.filter();
    case 't': return page.theme();
    case '?': showHelp(); return true;
    default: return page.other(key, target);
  }
}

function pressButton(card, label) {
  const found = [...card.querySelectorAll('.decision button')].find((it) => it.textContent === label);
  found?.click();
  return Boolean(found);
}
