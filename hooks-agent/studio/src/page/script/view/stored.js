// The stored messages of a thread, and forks of it.

import { api } from './api.js';
import { addThread, freeName } from './conversations.js';
import { threadLink } from './place.js';
import { mayAct } from './state.js';
import { hiddenText, longText } from './code.js';
import { action, announce, field, fill, h, say } from './dom.js';
import { shown } from './format.js';
import { said } from './piece.js';

/** Why a fork is refused, in words. */
const REFUSED = {
  chat: 'This studio does not let people write to agents.',
  other_user: 'This thread is of another person.',
  viewer: 'You may look only.',
  signed_out: 'You are not signed in.',
  404: 'This is no longer stored.',
  exists: 'There is a thread of this name. Choose another one.',
  in_call: 'A call is running on this thread. Try again when it has ended.',
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

  draw({ agent, thread, error, messages = [], busy, hidden }) {
    fill(this.element, error && h('p.problem', {}, whyNot(error)),
      busy && h('p.note', {}, 'A call is running on this thread: it may add messages.'),
      hidden && h('p.note', {}, 'The studio shows no content: of each message its size.'),
      !error && !messages.length && h('p.missing', {}, 'No message is stored.'),
      h('ol', {}, messages.map((it) => h('li', {},
        stored(it, it.can_fork && mayAct() && forkOf(agent, thread, it.seq))))));
  }
}

function stored({ role, name, text, chars, tools = [], archived }, fork) {
  return said(role, role === 'tool' ? 'Tool' : name || role,
    text === null ? hiddenText('text', chars) : text && longText('div.prose', text),
    tools.length > 0 && h('p.faint', {}, role === 'tool' ? 'Result of ' : 'Calls ',
      h('code', {}, tools.map(shown).join(', '))),
    archived && h('p.faint', {}, 'Archived: the model no longer reads it.'), fork);
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
  const open = h('summary', {}, 'Fork from here');
  const fork = h('details.fork', { name: 'fork' }, open, h('label', {}, 'Name of the new thread ', name),
    submit, problem);
  fork.addEventListener('toggle', () => {
    if (!fork.open) return;
    name.value ||= freeName(agent, thread);
    name.select();
    name.focus();
  });
  fork.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (key === 'Enter' && target === name) submit.click();
    if (key !== 'Escape' || !fork.open) return;
    event.stopPropagation();
    fork.open = false;
    open.focus();
  });
  return fork;
}
