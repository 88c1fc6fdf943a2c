// The stream of events, and whether it is live.

const FIRST_DELAY = 500;
const LONGEST_DELAY = 15000;

/**
 * Reads the stream. `take(kind, data, seq)` gets each event, `state(name)` the state of the
 * connection: `connecting`, `live`, `reconnecting`. `reopened()` is called when a new stream, which
 * knows nothing of the old one, is open.
 */
export function connect({ take, state, reopened }) {
  let source = null;
  let delay = FIRST_DELAY;
  let isFirst = true;

  const open = () => {
    source = new EventSource('/api/events');
    source.onopen = () => {
      delay = FIRST_DELAY;
      state('live');
      if (!isFirst) reopened();
      isFirst = false;
    };
    source.onerror = () => {
      state('reconnecting');
      // The browser tries again by itself, unless the answer was not a stream.
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(open, delay);
      delay = Math.min(delay * 2, LONGEST_DELAY);
    };
    for (const kind of ['run', 'event', 'hook', 'approval', 'resync']) {
      source.addEventListener(kind, (event) => {
        take(kind, JSON.parse(event.data), Number(event.lastEventId) || 0);
      });
    }
  };

  state('connecting');
  open();
  addEventListener('pagehide', () => source.close());
  addEventListener('pageshow', (event) => {
    if (event.persisted) open();
  });
}
