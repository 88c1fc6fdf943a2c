// The API of the studio.

import { parse } from './json.js';

/** An answer that is not a success: `status`, the `code` of the error, and its message. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

async function ask(path, options, isText) {
  let answer;
  try {
    answer = await fetch(path, { credentials: 'same-origin', cache: 'no-store', ...options });
  } catch {
    throw new ApiError(0, 'offline', 'The program does not answer.');
  }
  const text = await answer.text();
  if (isText && answer.ok) return text;
  let body = null;
  try {
    body = text ? parse(text) : null;
  } catch {
    body = null;
  }
  if (!answer.ok) {
    const message = body?.message ?? `The program answers ${answer.status}.`;
    throw new ApiError(answer.status, body?.error ?? String(answer.status), message);
  }
  return body;
}

const at = (...parts) => '/api/' + parts.map(encodeURIComponent).join('/');

const post = (path, body) => ask(path, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body,
});

/** The body of a decision. New arguments go as they are written: JavaScript rounds large numbers. */
function decisionBody({ input, ...decision }) {
  const body = JSON.stringify(decision);
  return input === undefined ? body : `${body.slice(0, -1)},"input":${input}}`;
}

export const api = {
  agents: () => ask(at('agents')),
  runs: () => ask(at('runs') + '?limit=1000'),
  history: (asked) => ask(`${at('history')}?${new URLSearchParams(asked)}`),
  run: (run) => ask(at('runs', run)),
  overview: (since) => ask(`${at('overview')}?since=${since}`),
  search: (text) => ask(`${at('search')}?q=${encodeURIComponent(text)}`),
  runText: (run) => ask(at('runs', run), {}, true),
  runTest: (run) => ask(at('runs', run, 'test'), {}, true),
  plan: (agent) => ask(at('plan', agent)),
  approvals: () => ask(at('approvals')),
  interrupt: (run) => post(at('runs', run, 'interrupt'), JSON.stringify({})),
  decide: (id, decision) => post(at('approvals', id), decisionBody(decision)),
  remembered: () => ask(at('remembered')),
  revoke: (id) => post(at('remembered', id, 'revoke'), JSON.stringify({})),
  steer: (agent, thread, text) => post(at('threads', agent, thread, 'steer'), JSON.stringify({ text })),
  thread: (agent, thread) => ask(at('threads', agent, thread)),
  fork: (agent, thread, fork) => post(at('threads', agent, thread, 'fork'), JSON.stringify(fork)),
  runTape: (run) => ask(at('runs', run, 'tape'), {}, true),
  rewind: (agent, thread, last) => post(at('threads', agent, thread, 'rewind'), JSON.stringify({ last })),
  send: (agent, thread, text) => post(at('threads', agent, thread, 'messages'), JSON.stringify({ text })),
};
