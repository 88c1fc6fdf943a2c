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

/** `1,234`. */
export const number = (value) => NUMBERS.format(value ?? 0);

/** `1.2k`. */
export function compact(value) {
  if (value < 1000) return String(value ?? 0);
  if (value < 999_500) return `${(value / 1000).toFixed(value < 9950 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** `3 rounds`. */
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

/** Microseconds as `12 µs`, `3.4 ms`. */
export function micros(us) {
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 100_000) return `${(us / 1000).toFixed(1)} ms`;
  return duration(us / 1000);
}

/** How long ago, as `now`, `12 s`, `5 min`, `3 h`, `2 d`. */
export function ago(at, now = Date.now()) {
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  if (seconds < 2) return 'now';
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
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
