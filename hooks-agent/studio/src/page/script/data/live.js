// The stream of events.

import { parse } from './json.js';

const KINDS = ['run', 'event', 'hook', 'approval', 'resync'];

/**
 * Reads what happens after the entry of this number. `take(kind, data)` gets each event. A stream that
 * breaks is opened again by the browser, which knows its last event; `broken()` says so, `open()` when
 * it is there again, and `closed()` when the browser gave up.
 */
export function listen(after, { take, open, broken, closed }) {
  const source = new EventSource(`/api/events?after=${after}`);
  source.onopen = open;
  source.onerror = () => {
    broken();
    if (source.readyState === EventSource.CLOSED) closed();
  };
  for (const kind of KINDS) {
    source.addEventListener(kind, (event) => take(kind, parse(event.data)));
  }
  return source;
}
