// The stored messages of a thread, where it is forked and rewound.

import { api } from './api.js';
import { addThread, freeName } from './conversations.js';
import { threadLink } from './place.js';
import { mayAct } from './state.js';
import { hiddenText, longText } from './code.js';
import { action, announce, field, fill, h, say } from './dom.js';
import { count, shown } from './format.js';
import { said } from './piece.js';

/** Why a fork or a rewind is refused, in words. */
const REFUSED = {
  chat: 'This studio does not let people write to agents.',
  other_user: 'This thread is of another person.',
  viewer: 'You may look only.',
  signed_out: 'You are not signed in.',
  404: 'This is no longer stored.',
  exists: 'There is a thread of this name. Choose another one.',
  in_call: 'A call is running on this thread. Try again when it has ended.',
  cut_off: 'A call was cut off on this thread. Resume it first.',
  unanswered: 'After this message a tool call has no result. Choose another message.',
};

const whyNot = ({ code, status, message }) => shown(REFUSED[code] ?? REFUSED[status] ?? message);

export class StoredMessages {
  constructor() {
    this.element = h('section.stored', { ariaLabel: 'Stored messages' });
  }

  /** Loads the messages of a thread. Those that are shown stay until then, and while a fork is written. */
  async load(agent, thread) {
    const key = threadLink(agent, thread);
    if (this.key !== key) fill(this.element, h('p.missing', {}, 'Loading the messages.'));
    this.key = key;
    const stored = await api.thread(agent, thread).catch((error) => ({ error }));
    if (this.key === key && !this.element.querySelector('[open]')) this.draw(stored);
  }

  /** Loads the messages after the last ones are gone: the focus goes to what can be done with the one that is last. */
  async drawAfter(agent, thread) {
    // Another thread may be shown by now.
    if (this.key !== threadLink(agent, thread)) return;
    await this.load(agent, thread);
    [...this.element.querySelectorAll('summary')].at(-1)?.focus();
  }

  draw({ agent, thread, error, messages = [], busy, hidden }) {
    const live = messages.filter((it) => !it.archived);
    const acts = (it) => {
      if (!it.can_fork || !mayAct()) return false;
      const later = live.length - live.indexOf(it) - 1;
      const rewind = later > 0 && rewindTo(agent, thread, it.seq, later, () => this.drawAfter(agent, thread));
      return h('div.from-here', {}, forkOf(agent, thread, it.seq), rewind);
    };
    fill(this.element, error && h('p.problem', {}, whyNot(error)),
      busy && h('p.note', {}, 'A call is running on this thread: it may add messages.'),
      hidden && h('p.note', {}, 'The studio shows no content: of each message its size.'),
      !error && !messages.length && h('p.missing', {}, 'No message is stored.'),
      h('ol', {}, messages.map((it) => h('li', {}, stored(it, acts(it))))));
  }
}

function stored({ role, name, text, chars, tools = [], archived }, acts) {
  return said(role, role === 'tool' ? 'Tool' : name || role,
    text === null ? hiddenText('text', chars) : text && longText('div.prose', text),
    tools.length > 0 && h('p.faint', {}, role === 'tool' ? 'Result of ' : 'Calls ',
      h('code', {}, tools.map(shown).join(', '))),
    archived && h('p.faint', {}, 'Archived: the model no longer reads it.'), acts);
}

/** Asks for the name of the new thread. */
function forkOf(agent, thread, last) {
  const problem = h('p.problem', { id: `fork-${last}`, role: 'alert' });
  const name = field('Name of the new thread', { type: 'text', 'aria-describedby': problem.id });
  const submit = action('Fork', async () => {
    const { thread: made } = await api.fork(agent, thread, { last, to: name.value.trim() });
    addThread(agent, made);
    announce(`Forked to ${shown(made)}`);
    location.hash = threadLink(agent, made);
  }, '.primary', (error) => {
    say(problem, whyNot(error));
    name.ariaInvalid = 'true';
    name.focus();
  });
  const fork = folded('Fork from here', h('label', {}, 'Name of the new thread ', name), submit, problem);
  fork.addEventListener('toggle', () => {
    if (!fork.open) return;
    name.value ||= freeName(agent, thread);
    name.select();
    name.focus();
  });
  name.addEventListener('keydown', ({ key }) => { if (key === 'Enter') submit.click(); });
  return fork;
}

/** Asks whether the thread is taken back, and draws it `anew` then. */
function rewindTo(agent, thread, last, later, anew) {
  const problem = h('p.problem', { role: 'alert' });
  const what = later === 1 ? 'The message after this one leaves' : `The ${later} messages after this one leave`;
  const submit = action('Rewind', async () => {
    const { gone } = await api.rewind(agent, thread, last);
    rewind.open = false;
    announce(`Rewound by ${count(gone, 'message')}`);
    await anew();
  }, '.primary', (error) => say(problem, whyNot(error)));
  const rewind = folded('Rewind to here', h('p', {}, `${what} the conversation. What tools did stays done.`),
    submit, problem);
  return rewind;
}

/** What is asked before a thread is forked or rewound; one at a time. */
function folded(name, ...content) {
  const open = h('summary', {}, name);
  const made = h('details.fork', { name: 'from-here' }, open, content);
  made.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !made.open) return;
    event.stopPropagation();
    made.open = false;
    open.focus();
  });
  return made;
}
