// The events of the program, as it writes them.

const KINDS = ['run', 'event', 'hook', 'approval', 'resync'];

/**
 * Reads what happens after the entry of this number. `tell(kind, number, text)` gets each event with the
 * number of the last entry, and `tell(kind)` how the stream is: `open`, `broken` while the browser opens it
 * again from its last event, and `closed` when the browser gave up.
 */
export function openSource(after, tell) {
  const source = new EventSource(`/api/events?after=${after}`);
  source.onopen = () => tell('open');
  source.onerror = () => tell(source.readyState === EventSource.CLOSED ? 'closed' : 'broken');
  for (const kind of KINDS) {
    source.addEventListener(kind, ({ lastEventId, data }) => tell(kind, Number(lastEventId), data));
  }
  return source;
}
