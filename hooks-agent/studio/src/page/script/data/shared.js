// The one stream of all tabs: a shared worker, to which each tab has a port.
//
// Tabs that an older program served may share it: a change of what it is told or tells needs another name.

import { openSource } from './source.js';

/** How much a port may have that its tab did not read: one that sleeps or is gone gets no more. */
const MOST = 16_384;

/** What each port was sent, and what its tab has read. */
const ports = new Map();
let source = null;
/** Whether it is `open` or `broken`, once it was. */
let how = null;
/** The first and the last entry that the stream is after. */
let [first, last] = [0, 0];

function send(port, ...message) {
  const told = ports.get(port);
  if (told.isBehind) return;
  port.postMessage(message);
  told.sent += 1;
  told.isBehind = told.sent - told.read >= MOST;
}

const sendAll = (...message) => [...ports.keys()].forEach((port) => send(port, ...message));

const resync = (port) => send(port, 'resync', last, JSON.stringify({ seq: last }));

function take(kind, ...event) {
  if (!event.length) how = kind;
  else if (kind !== 'run') [last] = event;
  if (kind === 'resync') first = last;
  if (kind === 'closed') source = null;
  sendAll(kind, ...event);
}

/** A tab has loaded all up to this entry. What came since it has its port, it was sent. */
function begin(port, after) {
  if (source) {
    if (after < first) resync(port);
    if (how) send(port, how);
    return;
  }
  [first, last, how] = [after, after, null];
  try {
    source = openSource(after, take);
  } catch {
    sendAll('closed');
  }
}

function noteRead(port, read) {
  const told = ports.get(port);
  told.read = read;
  if (!told.isBehind || read < told.sent) return;
  told.isBehind = false;
  resync(port);
  if (how) send(port, how);
}

function leave(port) {
  ports.delete(port);
  if (ports.size) return;
  source?.close();
  source = null;
}

self.onconnect = ({ ports: [port] }) => {
  ports.set(port, { sent: 0, read: 0, isBehind: false });
  port.onmessage = ({ data: { after, read, leaves } }) => {
    if (leaves) leave(port);
    else if (read !== undefined) noteRead(port, read);
    else begin(port, after);
  };
  // The tab ended without a word.
  port.onclose = () => leave(port);
};
