// JSON with colours, long texts cut, and differences.

import { steps } from './diff.js';
import { button, fill, h } from './dom.js';
import { count, number, shown } from './format.js';

const MOST_SHOWN = 4000;
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;
const WORDS = /\s+|[\p{L}\p{N}_@.-]+|[^\s\p{L}\p{N}_]/gu;
const MOST_WORDS = 400;

export function longText(name, text, render = (it) => [it]) {
  const whole = shown(text);
  const element = h(name);
  if (whole.length <= MOST_SHOWN) return fill(element, render(whole));
  const more = button(`Show all ${number(whole.length)} characters`, () => {
    fill(element, render(whole));
  }, '.link');
  return fill(element, render(whole.slice(0, MOST_SHOWN)), '… ', more);
}

/** A value as JSON, pretty and with colours; texts that are no JSON stay as they are. */
export function code(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return longText('pre.code', text ?? '', /^\s*[[{]/.test(text) ? coloured : undefined);
}

function coloured(text) {
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(TOKENS)) {
    const [all, string, colon, numeral] = match;
    parts.push(text.slice(last, match.index));
    const kind = string ? (colon ? 'key' : 'string') : numeral ? 'number' : 'word';
    parts.push(h(`span.j-${kind}`, {}, string ?? all));
    if (colon) parts.push(colon);
    last = match.index + all.length;
  }
  parts.push(text.slice(last));
  return parts;
}

export function change({ path, before, after, hidden, ...sizes }) {
  const place = h('span.path', {}, shown(path));
  const isHidden = (value, chars) => value === undefined && chars !== undefined;
  const old = isHidden(before, sizes.before_chars);
  const now = isHidden(after, sizes.after_chars);
  let parts = [];
  if (hidden || old || now) {
    if (before !== undefined) parts.push(h('del', {}, textOf(before)));
    else if (old) parts.push(hiddenText('before', sizes.before_chars));
    if (after !== undefined) parts.push(h('ins', {}, textOf(after)));
    else if (now) parts.push(hiddenText('after', sizes.after_chars));
    if (!parts.length) parts.push(hiddenText(''));
  } else {
    parts = difference(before, after);
  }
  return h('div.change', {}, place, h('div.values', {}, parts));
}

const WHY_HIDDEN = 'The studio keeps what an event ended with. What hooks replaced is kept only with '
  + 'show_removed, what a hook removed that redacts never, and texts only with show_content. '
  + 'An answer is shown when the hooks that may change it have seen it.';

export function hiddenText(what, chars) {
  const size = chars === undefined ? '' : `, ${count(chars, 'character')}`;
  return h('span.hidden-value', { title: WHY_HIDDEN }, `${what} hidden${size}`.trim());
}

function textOf(value) {
  return shown(typeof value === 'string' ? value : JSON.stringify(value, null, 1));
}

/** Both values in one text, with what differs marked; word by word if they are short and alike. */
function difference(before, after) {
  if (before === undefined) return [h('ins', {}, textOf(after))];
  if (after === undefined) return [h('del', {}, textOf(before))];
  const [old, now] = [textOf(before), textOf(after)];
  return marked(old, now) ?? [longText('del', old), '\n', longText('ins', now)];
}

/** Two texts as one, with the words that differ marked; null if they are long or have little in common. */
function marked(old, now) {
  const words = [old, now].map((it) => it.match(WORDS) ?? []);
  if (words.some((it) => it.length > MOST_WORDS)) return null;
  const found = pieces(steps(...words));
  const common = found.reduce((sum, [kind, text]) => sum + (kind ? 0 : text.length), 0);
  if (common * 3 < Math.min(old.length, now.length)) return null;
  return found.map(([kind, text]) => (kind ? h(kind, {}, text) : text));
}

/** Steps as few texts: spaces between words that differ differ too. */
function pieces(words) {
  const found = [];
  let [changed, space] = [{ del: '', ins: '' }, ''];
  const close = () => {
    found.push(...Object.entries(changed).filter(([, text]) => text));
    changed = { del: '', ins: '' };
  };
  for (const [kind, text] of words) {
    if (kind) {
      changed = { del: changed.del + space, ins: changed.ins + space };
      changed[kind] += text;
      space = '';
    } else if ((changed.del || changed.ins) && !text.trim()) {
      space += text;
    } else {
      close();
      found.push(['', space + text]);
      space = '';
    }
  }
  close();
  return [...found, ['', space]];
}

/** How many lines that are the same are shown around one that is not. */
const AROUND = 2;
const MOST_LINES = 200;
/** Longer texts are shown one after the other. */
const MOST_COMPARED = 5000;

/** What differs between two texts, line by line. */
export function lineDifference(...texts) {
  const lines = texts.map((it) => (it ? shown(it).split('\n') : []));
  const isLong = lines.some((it) => it.length > MOST_COMPARED);
  const rows = isLong ? ['del', 'ins'].map((kind, at) => longText(kind, texts[at])) : rowsOf(steps(...lines));
  const element = h('div.texts', {}, rows.slice(0, MOST_LINES));
  if (rows.length > MOST_LINES) {
    element.append(button(`Show all ${number(rows.length)} lines`, () => fill(element, rows), '.link'));
  }
  return element;
}

function rowsOf(found) {
  const rows = [];
  let [del, ins] = [[], []];
  const close = () => {
    for (let at = 0; at < Math.max(del.length, ins.length); at += 1) {
      const isPair = at < Math.min(del.length, ins.length) && rows.length < MOST_LINES;
      const both = isPair && marked(del[at], ins[at]);
      if (both) rows.push(h('div.both', {}, both));
      if (!both && at < del.length) rows.push(longText('del', del[at]));
      if (!both && at < ins.length) rows.push(longText('ins', ins[at]));
    }
    [del, ins] = [[], []];
  };
  found.forEach(([kind, line], at) => {
    if (kind) return (kind === 'del' ? del : ins).push(line);
    close();
    const isNear = found.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(([it]) => it);
    if (isNear) rows.push(longText('div', line));
    else if (rows.at(-1)?.className !== 'gap') rows.push(h('div.gap', {}, '⋯'));
    return null;
  });
  close();
  return rows.length > 1 || rows[0]?.className !== 'gap' ? rows : ['Only the ends of lines differ.'];
}
