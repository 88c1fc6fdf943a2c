// Tables of numbers, one row for each name.

import { h } from './dom.js';
import { duration, micros, number } from './format.js';

const or = (write) => (value) => (typeof value === 'number' ? write(value) : '–');
export const some = (value) => (value ? number(value) : h('span.missing', {}, '0'));
export const bad = (value) => (value ? h('span.problem', {}, number(value)) : some(value));
export const took = or(duration);
export const tookMicros = or(micros);

/** The columns of how long things take, in the unit of the keys. */
export const times = (unit, write) => [
  ['p50', `p50_${unit}`, write, 'Half of them take at most so long'],
  ['p95', `p95_${unit}`, write, '95 of 100 take at most so long'],
];

/**
 * A table: `columns` are `[head, key, write(value, row), title]`, of which the first names the row.
 * With the order in which rows are shown, such as `-runs`, the heads are buttons that choose it.
 */
export function table(label, columns, rows, order) {
  const head = ([text, key, , title]) => {
    const sort = { [key]: 'ascending', [`-${key}`]: 'descending' }[order] ?? 'none';
    return h('th', { scope: 'col', title, 'aria-sort': order && sort },
      order ? h('button.sort', { type: 'button', data: { sort: key } }, text) : text);
  };
  const cell = (row) => ([, key, write = some], at) =>
    h(at ? 'td' : 'th', at ? {} : { scope: 'row' }, write(row[key], row));
  return h('div.scroll', { role: 'region', tabIndex: 0, ariaLabel: label }, h('table.numbers', {},
    h('thead', {}, h('tr', {}, columns.map(head))),
    h('tbody', {}, rows.map((row) => h('tr', { data: { key: row.name } }, columns.map(cell(row)))))));
}

export function sorted(rows, order) {
  const [, sign, key] = /^(-?)(.*)$/.exec(order);
  const compare = (one, other) => (key === 'name' ? one.localeCompare(other) : (one ?? -1) - (other ?? -1));
  return [...rows].sort((one, other) => (sign ? -1 : 1) * compare(one[key], other[key]));
}

/** The order after a click on a head: names begin with A, numbers with the largest. */
export function nextOrder(order, key) {
  const first = key === 'name' ? key : `-${key}`;
  if (order !== first) return first;
  return key === 'name' ? `-${key}` : key;
}
