// JSON with colours, long texts cut, and differences.

import { button, fill, h } from './dom.js';
import { number, shown } from './format.js';

const MOST_SHOWN = 4000;
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;
const WORDS = /\s+|[\p{L}\p{N}_@.-]+|[^\s\p{L}\p{N}_]/gu;
const MOST_WORDS = 400;

/** A text that may be long: its beginning, and a button for the rest. */
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
  return longText('pre.code', text ?? '', isJson(text) ? coloured : undefined);
}

function isJson(text) {
  return /^\s*[[{]/.test(text ?? '');
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

/** What a hook changed at one place. */
export function change({ path, before, after, hidden, ...sizes }) {
  const place = h('span.path', {}, shown(path));
  const isHidden = (value, chars) => value === undefined && chars !== undefined;
  const old = isHidden(before, sizes.before_chars);
  const now = isHidden(after, sizes.after_chars);
  if (hidden || old || now) {
    const parts = [];
    if (before !== undefined) parts.push(h('del', {}, textOf(before)));
    else if (old) parts.push(hiddenText('before', sizes.before_chars));
    if (after !== undefined) parts.push(h('ins', {}, textOf(after)));
    else if (now) parts.push(hiddenText('after', sizes.after_chars));
    if (!parts.length) parts.push(hiddenText('', undefined));
    return h('div.change', {}, place, h('div.values', {}, parts));
  }
  return h('div.change', {}, place, h('div.values', {}, difference(before, after)));
}

const WHY_HIDDEN = 'The studio keeps what an event ended with. What hooks replaced is kept only with '
  + 'show_removed, what a hook removed that redacts never, and texts only with show_content. '
  + 'An answer is shown when the hooks that may change it have seen it.';

/** A value that is not shown, and its size. */
export function hiddenText(what, chars) {
  const size = chars === undefined ? '' : `, ${number(chars)} character${chars === 1 ? '' : 's'}`;
  return h('span.hidden-value', { title: WHY_HIDDEN, 'aria-description': WHY_HIDDEN }, `${what} hidden${size}`.trim());
}

function textOf(value) {
  return shown(typeof value === 'string' ? value : JSON.stringify(value, null, 1));
}

/** Both values in one text, with what differs marked; word by word if they are short. */
function difference(before, after) {
  if (before === undefined) return [h('ins', {}, textOf(after))];
  if (after === undefined) return [h('del', {}, textOf(before))];
  const [old, now] = [textOf(before), textOf(after)];
  const [olds, nows] = [old.match(WORDS) ?? [], now.match(WORDS) ?? []];
  if (olds.length > MOST_WORDS || nows.length > MOST_WORDS) {
    return [longText('del', old), longText('ins', now)];
  }
  return pieces(olds, nows).map(([kind, text]) => (kind ? h(kind, {}, text) : text));
}

/** The longest common subsequence of words, as pieces `[kind, text]`. */
function pieces(olds, nows) {
  const width = nows.length + 1;
  const lengths = new Uint16Array((olds.length + 1) * width);
  for (let i = olds.length - 1; i >= 0; i -= 1) {
    for (let j = nows.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = olds[i] === nows[j]
        ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const found = [];
  const add = (kind, text) => {
    if (found.at(-1)?.[0] === kind) found.at(-1)[1] += text;
    else found.push([kind, text]);
  };
  let [i, j] = [0, 0];
  while (i < olds.length || j < nows.length) {
    if (olds[i] === nows[j]) {
      add('', olds[i]);
      i += 1;
      j += 1;
    } else if (j === nows.length
      || (i < olds.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
      add('del', olds[i]);
      i += 1;
    } else {
      add('ins', nows[j]);
      j += 1;
    }
  }
  return found;
}
