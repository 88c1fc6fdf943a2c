// What entries say.

const SLOW = 20_000;

/** Whether a run of a hook changed nothing, let the call continue, and took no time to speak of. */
export function isQuiet(hook) {
  return hook.flow === 'continue' && !hook.changed?.length && !hook.cut && !(hook.us >= SLOW);
}

export function textOf(msg) {
  return (msg.content ?? []).filter((it) => it.type === 'text').map((it) => it.text).join('\n');
}

export function mediaOf(block) {
  if (block.type === 'redacted_thinking') return 'Thoughts that the provider encrypts';
  const name = block.name ? ` ${block.name}` : '';
  return `${block.type}${name}${block.mime_type ? `, ${block.mime_type}` : ''}`;
}

export function outputOf(output) {
  if (typeof output === 'string') return { text: output, more: [] };
  return { text: output?.text ?? '', more: (output?.blocks ?? []).map(mediaOf) };
}

export function whyOf(why) {
  if (why?.permission !== undefined) return why.permission || 'It needs permission.';
  return {
    stopped: 'A hook stopped the run before it.',
    not_run: 'It waits for the calls before it.',
    unknown_outcome: 'It may have run: the process ended meanwhile.',
  }[why] ?? String(why ?? '');
}

export function askersOf({ asked_by: asked, askers = [] }) {
  const names = askers.filter((it) => !it.is_answered).map((it) => it.hook ?? 'the tool');
  return names.join(', ') || asked;
}

const ATTEMPTS = {
  unreachable: 'was not reached',
  too_long: 'finds the request too long',
  cut: 'was cut off',
  empty: 'gave an empty answer',
  blocked: 'blocked the request',
  failed: 'failed',
  other: 'failed',
  cancelled: 'was cancelled',
};

/** Why an attempt failed, in words: `answered with status 503`. */
export function attemptOf({ kind, status }) {
  return status ? `answered with status ${status}` : ATTEMPTS[kind] ?? 'failed';
}

/** Why a run failed, in words: `model error: fast answered with status 503, after 3 attempts`. */
export function failureOf(failure) {
  const { kind, status, attempts, hook, model, tool } = failure;
  const isAttempt = ATTEMPTS[kind] !== undefined;
  const whose = hook ? `hook ${hook} failed` : tool ? `tool ${tool} failed`
    : `${isAttempt || kind === 'status' ? 'model' : kind} error`;
  const what = [];
  if (status || isAttempt) what.push(`${model ?? 'it'} ${attemptOf(failure)}`);
  else if (model) what.push(model);
  if (attempts > 1) what.push(`after ${attempts} attempts`);
  return what.length ? `${whose}: ${what.join(', ')}` : whose;
}

export const STATES = {
  running: 'Running',
  waiting: 'Waiting',
  resumed: 'Resumed',
  finished: 'Finished',
  failed: 'Failed',
  interrupted: 'Interrupted',
  cancelled: 'Cancelled',
  panicked: 'Panicked',
};

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

export const DECISIONS = {
  approve: 'approved',
  edit: 'approved with other arguments',
  deny: 'denied',
  reject: 'denied',
  respond: 'answered by a person',
};
