// Two runs beside each other: whether they are the same, and each difference in order.

import { api } from './api.js';
import { compare } from './compare.js';
import { compareLink } from './place.js';
import { RunView } from './run_view.js';
import { state } from './state.js';
import { lineDifference } from './code.js';
import { backLink, button, fill, h } from './dom.js';
import { capital, count, duration, shown } from './format.js';
import { factsOf } from './run_head.js';
import { RunItems } from './run_items.js';
import { table } from './table.js';

const NAMES = ['first', 'second'];
const NUMBERS = ['Took', 'First token', 'Rounds', 'Tools', 'Tool errors', 'Retries', 'Tokens', 'Cost'];

export class Comparison {
  constructor(main) {
    this.main = main;
    this.head = h('header.run-head');
    this.body = h('div.comparison');
  }

  /** Compares the runs of these ids, or says that the second is to be chosen from the list. */
  async show(...ids) {
    this.ids = ids;
    fill(this.main, this.head, this.body);
    this.drawHead(ids.map((id) => state.runs.get(id)));
    const tell = (text, kind = 'missing') => fill(this.body, h(`p.plain.${kind}`, { role: 'status' }, text));
    if (!ids[1]) return tell('Choose the second run from the list.');
    tell('Loading the runs.');
    const answers = await Promise.allSettled(ids.map((id) => api.run(id)));
    if (ids !== this.ids) return null;
    const views = ids.map((id) => new RunView(id));
    for (const [at, { value, reason }] of answers.entries()) {
      if (!value) return tell(`The ${NAMES[at]} run is not here: ${shown(reason.message)}`, 'problem');
      views[at].load(value);
    }
    return this.draw(views.map((it) => it.tree));
  }

  drawHead(runs) {
    const [one, other] = this.ids;
    const items = new RunItems('Runs that are compared');
    items.draw(runs.filter(Boolean));
    fill(this.head, backLink('#/', 'Runs'), h('div.run-title', {}, h('h1', {}, 'Compare two runs'),
      other && h('div.head-actions', {}, h('a.quiet', { href: compareLink(other, one) }, 'Swap'),
        h('a.quiet', { href: compareLink(one) }, 'Another second run'))), h('div.compared', {}, items.element));
  }

  draw(trees) {
    const runs = trees.map((it) => it.summary);
    const parts = compare(trees);
    const sum = (key) => parts.reduce((all, it) => all + it[key].length, 0);
    this.drawHead(runs);
    fill(this.body, verdict(sum('differs'), sum('hidden')), runs.map(({ dropped, state: now }, at) => [
      dropped > 0 && h('p.plain.note', {}, `The first ${count(dropped, 'event')} of the ${NAMES[at]} run are not kept,`
        + ' and not compared.'),
      now === 'running' && h('p.plain.note', {}, `The ${NAMES[at]} run goes on. `,
        button('Compare again', () => this.show(...this.ids), '.link'))]), parts.map(drawPart), numbersOf(runs));
  }
}

function verdict(differences, hidden) {
  const told = differences ? `The runs differ in ${count(differences, 'place')}.`
    : hidden ? 'What is shown of the runs is the same.' : 'The runs are the same.';
  return h(`p.verdict${differences || hidden ? '' : '.same'}`, { role: 'status' }, h('strong', {}, told),
    hidden > 0 && ` ${count(hidden, 'value')} cannot be compared: hidden in one of them or in both.`);
}

function drawPart({ title, alone, same, again, hidden, differs }) {
  const line = (word, names) => names.length > 0 && h('p.faint', {}, `${word}: ${names.join(', ')}.`);
  const where = ({ what, of }) => `${what} (in ${of[0] && of[1] ? 'both' : `the ${NAMES[of.indexOf(true)]}`})`;
  const told = [line('The same', same), line('Differs as before', again.map((it) => it.what)),
    line('Hidden, and not compared', hidden.map(where)), differs.map(({ what, texts }) =>
      h('div.difference', { tabIndex: -1 }, h('h3', {}, capital(what)), lineDifference(...texts)))];
  return told.flat().some(Boolean) && h('section.part-of', {}, h('h2', {}, shown(title),
    alone !== undefined && h('span.faint', {}, ` in the ${NAMES[alone]} run alone`)), told);
}

function numbersOf(runs) {
  const [one, other] = runs.map((it) => ({ ...factsOf(it, it.tool_errors),
    Took: duration(it.ended - it.started) || '–' }));
  const rows = NUMBERS.map((name) => ({ name, one: one[name] ?? '–', other: other[name] ?? '–' }));
  const cell = (text, row) => (row.one === row.other ? h('span.missing', {}, text) : text);
  const columns = [['What', 'name', String], ['First', 'one', cell], ['Second', 'other', cell]];
  return h('section.part-of', {}, h('h2', {}, 'Numbers'),
    table('Numbers', columns, rows.filter((it) => it.one + it.other !== '––')));
}
