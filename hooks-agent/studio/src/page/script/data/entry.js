// What entries say.

/** From how many microseconds on a hook is slow. */
const SLOW = 20_000;

/** Whether a run of a hook changed nothing, let the call continue, and took no time to speak of. */
export function isQuiet(hook) {
  return hook.flow === 'continue' && !hook.changed?.length && !hook.cut && !(hook.us >= SLOW);
}

/** The text of a message. */
export function textOf(msg) {
  return (msg.content ?? []).filter((it) => it.type === 'text').map((it) => it.text).join('\n');
}

/** A block of content that is not text, in words. */
export function mediaOf(block) {
  if (block.type === 'redacted_thinking') return 'Thoughts that the provider encrypts';
  const name = block.name ? ` ${block.name}` : '';
  return `${block.type}${name}${block.mime_type ? `, ${block.mime_type}` : ''}`;
}

/** What a tool returned: its text, and what is beside it. */
export function outputOf(output) {
  if (typeof output === 'string') return { text: output, more: [] };
  return { text: output?.text ?? '', more: (output?.blocks ?? []).map(mediaOf) };
}

/** Why a tool call waits, in words. */
export function whyOf(why) {
  if (why?.permission !== undefined) return why.permission || 'It needs permission.';
  return {
    stopped: 'A hook stopped the run before it.',
    not_run: 'It waits for the calls before it.',
    unknown_outcome: 'It may have run: the process ended meanwhile.',
  }[why] ?? String(why ?? '');
}

/** The names of those who ask about a tool call now. */
export function askersOf({ asked_by: asked, askers = [] }) {
  const names = askers.filter((it) => !it.is_answered).map((it) => it.hook ?? 'the tool');
  return names.join(', ') || asked;
}

/** Why a run failed, in words: `model error, status 503, 3 attempts`. */
export function failureOf({ kind, status, attempts, hook }) {
  const parts = [hook ? `hook ${hook} failed` : `${kind} error`];
  if (status) parts.push(`status ${status}`);
  if (attempts > 1) parts.push(`${attempts} attempts`);
  return parts.join(', ');
}

/** The text of a state of a run. */
export const STATES = {
  running: 'Running',
  waiting: 'Waiting',
  finished: 'Finished',
  failed: 'Failed',
  interrupted: 'Interrupted',
  cancelled: 'Cancelled',
  panicked: 'Panicked',
};

/** Why a run ended, in words. */
export const REASONS = {
  model_stop: '',
  reasoning_stop_requested: 'stopped by a hook after the model',
  acting_stop_requested: 'stopped by a hook before a tool',
  permission_asking: 'asks for permission',
  hook_ended: 'ended by a hook',
  limit_reached: 'a limit is reached',
  hook_answered: 'answered by a hook',
  recovered: 'recovered from an error',
  length: 'the answer reached the limit of tokens',
  content_filter: 'the provider filtered the answer',
  interrupted: 'interrupted',
  max_iterations: 'the limit of rounds is reached',
};

/** What a person decided, in words. */
export const DECISIONS = {
  approve: 'approved',
  edit: 'approved with other arguments',
  deny: 'denied',
  reject: 'denied',
  respond: 'answered by a person',
};
