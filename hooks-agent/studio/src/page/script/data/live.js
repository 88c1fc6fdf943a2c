// The stream of events in this tab: that of all tabs of the browser, or one of its own.

import { parse } from './json.js';
import { openSource } from './source.js';

/** After how many messages the worker is told that they are read. */
const PACE = 256;

/** Whether the next stream is one of this tab, as the shared one was refused. */
let isOwnNext = false;

export class Live {
  port = null;
  source = null;
  /** What came while this tab loads what was before. */
  held = [];
  after = null;
  read = 0;
  wasOpen = false;

  /**
   * Joins the stream. After `begin`, `take(kind, data)` gets each event, `open()` is told that it is there,
   * `broken()` that it is opened again, and `closed()` that the browser gave up.
   */
  constructor(handlers) {
    this.handlers = handlers;
    if (isOwnNext || !window.SharedWorker) return;
    try {
      const worker = new SharedWorker('/assets/shared.js', { type: 'module', name: 'studio' });
      worker.onerror = () => this.hear('closed');
      this.port = worker.port;
      this.port.onmessage = ({ data }) => {
        this.read += 1;
        if (this.read % PACE === 0) this.port.postMessage({ read: this.read });
        // How the stream is, the worker says again after `begin`.
        if (this.after !== null || data.length > 1) this.hear(...data);
      };
    } catch {
      this.port = null;
    }
  }

  /** Takes what happened after the entry of this number: all before it is loaded. */
  begin(after) {
    this.after = after;
    if (this.port) this.port.postMessage({ after });
    else this.source = openSource(after, (...message) => this.hear(...message));
    for (const message of this.held.splice(0)) this.hear(...message);
  }

  hear(kind, number, text) {
    if (this.after === null) {
      this.held.push([kind, number, text]);
    } else if (text !== undefined) {
      // The summary of a run has no number of its own, and tells itself how old it is.
      if (kind !== 'run' && kind !== 'resync' && number <= this.after) return;
      const data = parse(text);
      if (kind === 'resync') this.after = data.seq;
      this.handlers.take(kind, data);
    } else if (kind !== 'closed') {
      this.wasOpen ||= kind === 'open';
      this.handlers[kind]();
    } else {
      isOwnNext = this.port !== null && !this.wasOpen;
      this.leave();
      this.handlers.broken();
      this.handlers.closed();
    }
  }

  leave() {
    this.port?.postMessage({ leaves: true });
    this.port?.close();
    this.source?.close();
    this.hear = () => {};
  }
}
