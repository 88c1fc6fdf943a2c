// A tool call that waits for a person.

import { api } from './api.js';
import { DECISIONS, askersOf, whyOf } from './entry.js';
import { runLink } from './place.js';
import { agentOf, mayAct, reloadApprovals, state } from './state.js';
import { announce, button, fill, h, icon, say } from './dom.js';
import { copyButton } from './copy.js';
import { editForm } from './edit.js';
import { ago, capital, clock, date, shown, wholeSeconds } from './format.js';
import { longText } from './code.js';
import { rememberForm } from './remember.js';

/** Who asks: a hook that asks alone by its name, several by name and reason, with what was answered before. */
function askedBy({ askers = [], asked_by: asked }, told) {
  const name = (it) => (it.hook ? shown(it.hook) : 'the tool');
  if (!askers.length) return asked ? h('p.faint', {}, `Asked by ${shown(asked)}`) : '';
  if (askers.length === 1) {
    const [{ reason }] = askers;
    return h('p.faint', {}, `Asked by ${name(askers[0])}${reason && reason !== told ? `: ${shown(reason)}` : ''}`);
  }
  return h('ul.askers', { ariaLabel: 'Asked by' }, askers.map((it) => h('li', {},
    h('span.faint', {}, `${name(it)}${it.is_answered ? ', answered before' : ''} `),
    h('span', {}, shown(it.reason ?? '')))));
}

/** What hooks know of the arguments, such as where they came from. */
function known(notes) {
  if (!notes.length) return '';
  return h('ul.notes', { ariaLabel: 'What is known of the arguments' }, notes.map((it) =>
    h('li', {}, it.argument ? h('code', {}, shown(it.argument)) : 'The call', ` ${shown(it.text)}`)));
}

/** Who is called by whom, and for whom: `boss › clerk calls pay for ada on thread monday`. */
function callOf({ tool, thread, user, is_unverified: isUnverified, ...of }) {
  const whom = user ? ` for ${shown(user)}${isUnverified ? ' (not verified)' : ''}` : '';
  return h('p.from', {}, pathOf(of), ' calls ', h('span.tool-name', {}, shown(tool)),
    h('span.faint', {}, `${whom} on thread ${shown(thread)}`));
}

const pathOf = ({ agent, agents = [] }) => [agent, ...agents].map(shown).join(' › ');

/** A question: one line, which opens and closes what a decision is about. */
export class Card {
  /** `page` opens and closes cards, and removes this one. */
  constructor(approval, page) {
    this.approval = approval;
    this.page = page;
    this.isOver = false;
    this.times = h('span.times');
    this.form = h('div.decision');
    this.others = h('p.note');
    this.status = h('p.status', { role: 'status' });
    const { id, tool, description, why, askers = [], notes = [] } = approval;
    const reason = description || (why ? whyOf(why) : '');
    // Of several who ask, each says why.
    const told = askers.length > 1 && askers.some((it) => it.reason === reason) ? '' : reason;
    const asker = askersOf(approval);
    this.line = h('button.ask-line', { type: 'button', onclick: () => page.toggle(id) }, icon('chevron'),
      h('span.tool-name', {}, shown(tool)), h('span.ask-from', {}, pathOf(approval)),
      asker && h('span.ask-by', {}, `asked by ${shown(asker)}`), this.times);
    this.card = h('article.card', { tabIndex: -1, id: `card-${id}`,
      ariaLabel: `Approval of ${shown(tool)}` },
      callOf(approval),
      told ? h('p.why', {}, shown(told)) : '',
      askedBy(approval, told),
      h('h4', {}, 'Arguments'),
      approval.hidden
        ? h('p.note', {}, 'The studio shows no content, so the call can only be denied.')
        : longText('pre.code', approval.shown),
      known(notes),
      this.others, this.form, this.status,
      h('p.card-foot', {},
        h('a.link', { href: runLink(approval.run) }, 'Open the run'),
        !approval.hidden && copyButton('Copy arguments', () => approval.source, 'The arguments are')));
    this.line.setAttribute('aria-controls', this.card.id);
    this.element = h('div.ask', {}, h('h3', {}, this.line), this.card);
    this.buttons();
    this.tick(Date.now());
  }

  /** Shows what the decision is about, or only the line. What is sent or has to be read stays. */
  open(isOpen) {
    const isShown = Boolean(isOpen || this.isSending || this.isOver);
    this.card.hidden = !isShown;
    this.line.ariaExpanded = isShown;
    this.tick(Date.now());
  }

  /** Moves to what is open, or to the line: never to a button that decides. */
  focus() {
    (this.card.hidden ? this.line : this.card).focus();
  }

  tellOthers(tools) {
    say(this.others, tools.length ? 'The run goes on when these are decided too: '
      + `${tools.map(shown).join(', ')}.` : '');
  }

  allows(kind) {
    return !this.approval.allowed || this.approval.allowed.includes(kind);
  }

  buttons() {
    const { agent } = this.approval;
    this.draft = null;
    if (!mayAct()) return;
    if (agentOf(agent) && !agentOf(agent).decides) {
      fill(this.form, h('p.note', {}, `Give the studio the agent ${shown(agent)} to decide here.`));
      return;
    }
    const canApprove = this.allows('approve');
    const approve = button('Approve', () => this.send({ decision: 'approve' }), '.primary');
    const remember = canApprove && this.approval.remember?.length > 0 && rememberForm(this.approval, {
      send: (choice) => this.send({ decision: 'approve', remember: choice }),
      chose: (isSet) => say(approve, isSet ? 'Approve once' : 'Approve'),
    });
    fill(this.form, h('div.actions', {}, canApprove && approve,
      this.allows('edit') && button('Edit', () => this.edit()),
      this.allows('reject') && button('Deny', () => this.deny(), '.danger')), remember);
  }

  edit() {
    const form = editForm(this.approval, {
      send: (input) => this.send({ decision: 'edit', input }),
      cancel: () => this.back(),
      changed: (draft) => { this.draft = draft; },
    });
    this.problem = form.problem;
    fill(this.form, form.parts);
    form.area.focus();
  }

  deny() {
    const reason = h('textarea', { rows: 2, placeholder: 'Why not? The model reads it.',
      ariaLabel: 'Reason', oninput: () => { this.draft = reason.value || null; } });
    const send = () => this.send({ decision: 'deny', reason: reason.value.trim() || undefined });
    fill(this.form, reason, h('div.actions', {}, button('Deny the call', send, '.danger.solid'),
      button('Cancel', () => this.back())));
    reason.focus();
  }

  back() {
    this.buttons();
    this.card.focus();
  }

  async send(decision) {
    const { id, digest, tool } = this.approval;
    const all = [...this.form.querySelectorAll('button, textarea, select')];
    this.isSending = true;
    // A button that is disabled loses the focus.
    if (this.form.contains(document.activeElement)) this.card.focus({ preventScroll: true });
    for (const it of all) it.disabled = true;
    say(this.status, 'Sending.');
    try {
      await api.decide(id, { ...decision, digest });
      this.draft = null;
      this.isSending = false;
      this.isOver = true;
      announce(`${shown(tool)}: ${DECISIONS[decision.decision]}`);
      say(this.status, `${capital(DECISIONS[decision.decision])} at ${clock(Date.now())}.`);
      fill(this.form);
      state.waiting.delete(id);
      reloadApprovals().catch(() => {});
    } catch (error) {
      this.isSending = false;
      await this.refused(error, all);
    }
  }

  async refused(error, all) {
    for (const it of all) it.disabled = false;
    announce(error.message);
    if (error.status === 409 || error.status === 404) {
      const what = { changed: 'The arguments changed after they were shown.', expired: 'It expired.',
        decided: 'It was decided before.', unknown: 'It no longer waits.' }[error.code];
      this.end(`${what ?? error.message} Nothing was done here.`);
      await reloadApprovals().catch(() => {});
      return;
    }
    if (error.status === 422 && this.problem?.isConnected) {
      say(this.status, '');
      say(this.problem, shown(error.message));
      return;
    }
    say(this.status, shown(error.message));
  }

  isBusy() {
    return this.isSending || this.isOver === 'told' || this.draft !== null;
  }

  /** Says what happened, and waits until the person has read it. */
  end(text) {
    this.isOver = 'told';
    this.element.classList.add('is-over');
    this.open(true);
    say(this.status, text);
    const keep = this.draft && h('pre.code', {}, shown(this.draft));
    const dismiss = button('Dismiss', () => this.page.remove(this.approval.id));
    fill(this.form, keep, h('div.actions', {}, dismiss));
  }

  tick(now) {
    const { since, expires } = this.approval;
    const parts = [ago(since, now)];
    if (this.draft !== null && this.card.hidden) parts.unshift('not sent yet');
    if (expires) {
      parts.push(expires > now ? `expires in ${wholeSeconds(expires - now + 999)}` : 'expired');
    }
    say(this.times, parts.join(' · '));
    this.times.title = `waits since ${date(since)}`;
    this.element.classList.toggle('is-late', Boolean(expires) && expires - now < 60_000);
  }
}

