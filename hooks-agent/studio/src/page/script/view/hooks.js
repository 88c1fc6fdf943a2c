// All hooks: how often they run, how long, and what they do.

import { numbers, warnings } from './numbers.js';
import { agentLink, chosen, settled, writePlace } from './place.js';
import { field, fill, h, morph, say } from './dom.js';
import { count, number, shown } from './format.js';
import { rangeLinks } from './overview.js';
import { bad, nextOrder, some, sorted, table, times, tookMicros } from './table.js';

const FIRST = '-total_us';
const COLUMNS = [
  ['Hook', 'name', (name, { events = [] }) => [h('span.hook-name', {}, shown(name)), ' ',
    h('span.event', {}, events.map(shown).join(', '))]],
  ['Runs', 'runs'],
  ...times('us', tookMicros),
  ['Total', 'total_us', tookMicros],
  ['Changes', 'changes'],
  ['Refusals', 'refusals'],
  ['Failed', 'failed', bad],
  ['In shadow', 'shadow_runs', some, 'Runs in shadow, which change nothing'],
  ['Would have', 'would_have', some, 'What it would have refused, asked or changed'],
];

export class HooksPage {
  constructor(main) {
    this.main = main;
    const write = settled(() => writePlace());
    this.name = field('Filter hooks', { oninput: () => {
      chosen.name = this.name.value.trim();
      write();
      this.draw();
    } });
    this.ranges = h('div');
    this.body = h('div.hooks', { onclick: ({ target }) => this.sort(target.closest('[data-sort]')) });
    this.note = h('p.plain.faint', { 'aria-live': 'polite' });
  }

  show() {
    fill(this.main, h('header.run-head', {}, h('div.run-title', {}, h('h1', {}, 'Hooks'),
      h('span.spacer'), this.ranges)), h('div.plain', {}, this.name), this.body, this.note);
    this.draw();
  }

  sort(head) {
    if (!head) return;
    chosen.sort = nextOrder(chosen.sort || FIRST, head.dataset.sort);
    writePlace();
    this.draw();
  }

  draw() {
    if (!this.body.isConnected) return;
    morph(this.ranges, h('div', {}, rangeLinks()));
    if (this.name.value.trim() !== chosen.name) this.name.value = chosen.name;
    morph(this.body, h('div.hooks', {}, warned(), this.found()));
  }

  found() {
    const { value, error } = numbers;
    const text = (it) => h('p.plain.missing', {}, it);
    if (error || !value) return text(error ? shown(error.message) : 'Counting.');
    const all = value.hooks;
    const found = all.filter((it) => it.name.toLowerCase().includes(chosen.name.toLowerCase()));
    const known = found.length === all.length ? '' : `${number(found.length)} of `;
    say(this.note, all.length ? `${known}${count(all.length, 'hook')}` : '');
    if (!all.length) return text('No hook ran in this time. Choose a longer one, or call an agent.');
    if (!found.length) return text('No hook fits the filter.');
    const order = chosen.sort || FIRST;
    return h('div.plain', {}, table('Hooks', COLUMNS, sorted(found, order), order));
  }
}

function warned() {
  return warnings.length > 0 && h('section.plain', { ariaLabel: 'Warnings' },
    h('h2', {}, `${count(warnings.length, 'warning')} of plans`),
    warnings.map(({ text, names }) => h('p.warning', {}, shown(text), names.map((name, at) => [at ? ', ' : ' ',
      h('a.link', { href: agentLink(name) }, shown(name))]))));
}
