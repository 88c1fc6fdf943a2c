// A run as a file.

import { api } from './api.js';
import { action, announce, h, say } from './dom.js';
import { shown } from './format.js';

/** What a run is saved as: a name, and what makes the file, `{ name, type, text }`. */
const KINDS = [
  ['JSON', async ({ run }) => ({ name: `run-${run}.json`, type: 'application/json',
    text: await api.runText(run) })],
  ['Tape', async ({ run }) => ({ name: `run-${run.slice(0, 8)}.tape`, type: 'text/plain',
    text: await api.runTape(run) })],
  ['Test in Rust', async ({ run }) => ({ name: `run_${run.slice(0, 8)}.rs`, type: 'text/plain',
    text: await api.runTest(run) })],
];

function save({ name, type, text }) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** The files of a run; of one that the program no longer has in memory, its JSON alone. */
export function exportMenu(run, isPast) {
  const problem = h('p.problem', { role: 'alert' });
  const failed = (error) => say(problem, shown(error.message));
  const menu = h('details.menu', {}, h('summary', {}, 'Export'), h('div.options', {}, h('ul', {}, (isPast ? KINDS.slice(0, 1) : KINDS).map(([name, make]) =>
    h('li', {}, action(name, async () => {
      say(problem, '');
      save(await make(run));
      close(true);
      announce(`Saved as ${name}`);
    }, '.quiet', failed)))), problem));
  const close = (isBack) => {
    menu.open = false;
    if (isBack) menu.firstChild.focus();
  };
  menu.addEventListener('focusout', ({ relatedTarget: to }) => {
    if (to && !menu.contains(to)) close(false);
  });
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !menu.open) return;
    event.stopPropagation();
    close(true);
  });
  return menu;
}
