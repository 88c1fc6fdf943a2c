// Times, sizes and texts as people read them.

const NUMBERS = new Intl.NumberFormat('en');
const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

// Control characters but tab and line feed, and those that change the direction of text.
const UNSEEN = new RegExp('[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f'
  + '\\u202a-\\u202e\\u2066-\\u2069]', 'g');

/** The text with control and bidi characters written as `\u{202e}`. */
export function shown(text) {
  const escape = (it) => `\\u{${it.codePointAt(0).toString(16)}}`;
  return String(text ?? '').replaceAll('\r\n', '\n').replace(UNSEEN, escape);
}

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const number = (value) => NUMBERS.format(value ?? 0);

export function compact(value) {
  if (!(value >= 1000)) return String(value ?? 0);
  if (value < 999_500) return `${(value / 1000).toFixed(value < 9950 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

export const count = (value, word) => `${number(value)} ${word}${value === 1 ? '' : 's'}`;

/** Milliseconds as `240 ms`, `1.2 s`, `3:05`, `2 h 5 min`. */
export function duration(ms) {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return '';
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${String(seconds % 60).padStart(2, '0')}`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export const wholeSeconds = (ms) => (ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : duration(ms));

/** Microseconds as `12 µs`, `3.4 ms`. */
export function micros(us) {
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 100_000) return `${(us / 1000).toFixed(1)} ms`;
  return duration(us / 1000);
}

/** How long ago, as `now`, `12 s`, `5 min`, `3 h`, `2 d`. */
export function ago(at, now = Date.now()) {
  const seconds = Math.floor((now - at) / 1000);
  if (seconds < 2) return 'now';
  const [unit, size] = [['d', 86_400], ['h', 3600], ['min', 60]].find(([, it]) => seconds >= it) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${unit}`;
}

const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' });

/** The hour and minute, and the day if it is not clear. */
export const hour = (at, hasDay) => (hasDay ? `${DAY.format(at)}, ${TIME.format(at)}` : TIME.format(at));

const UTC_DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short',
  timeZone: 'UTC' });
export const day = (at) => UTC_DAY.format(at);

/** `$1.25`; amounts below a cent have more digits. */
export function money(value, currency = 'USD') {
  const digits = value && Math.abs(value) < 0.01 ? 4 : 2;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  try {
    return value.toLocaleString('en', { style: 'currency', currency, ...options });
  } catch {
    // It is no code of a currency.
    return `${value.toLocaleString('en', options)} ${shown(currency)}`;
  }
}

/** An amount of a currency that is not known, with three digits. */
export const amount = (value) => String(Number(value.toPrecision(3)));

const OF_OTHERS = /^.*[\\/]registry[\\/]src[\\/][^\\/]+[\\/]/;

/** Paths without the leading folders that all of them have: those of the workspace, and of others. */
export function shortPaths(paths) {
  const cut = paths.map((path) => path.replace(OF_OTHERS, ''));
  const own = cut.filter((path, at) => path && path === paths[at]).map((it) => it.split(/[\\/]/));
  let common = 0;
  while (own.length && own.every((it) => it.length > common + 1 && it[common] === own[0][common])) {
    common += 1;
  }
  const shorten = (path) => path.split(/[\\/]/).slice(common).join('/');
  return cut.map((path, at) => (path === paths[at] ? shorten(path) : path));
}

export const clock = (at) => CLOCK.format(at);
export const date = (at) => DATE.format(at);

/** The first line of the text, at most so long. */
export function line(text, most = 140) {
  const first = shown(text).trimStart().split('\n', 1)[0];
  return first.length > most ? `${first.slice(0, most)}…` : first;
}

/** A value as one line of JSON without the outer quotes of a text. */
export function brief(value, most = 160) {
  if (value === undefined) return '';
  return line(typeof value === 'string' ? value : JSON.stringify(value), most);
}

/** The arguments of a tool call in one line: `number: 17, name: "ada"`. */
export function args(input) {
  if (!input || typeof input !== 'object' || Array.isArray(input)) return brief(input);
  return Object.entries(input).map(([key, it]) => `${key}: ${JSON.stringify(it)}`).join(', ');
}
