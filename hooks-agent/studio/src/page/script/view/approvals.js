// Tool calls that wait for a person, and what was decided.

import { api } from './api.js';
import { DECISIONS, whyOf } from './entry.js';
import { agentOf, reloadApprovals, state, touch } from './state.js';
import { announce, button, fill, h, say } from './dom.js';
import { ago, clock, count, date, duration, shown } from './format.js';
import { longText } from './code.js';

/** The cards of what waits, in one place of the page. */
export class Cards {
  constructor() {
    this.element = h('div.cards');
    this.cards = new Map();
  }

  draw() {
    const waiting = [...state.waiting.values()].sort((one, other) => one.since - other.since);
    for (const [id, card] of this.cards) {
      if (!state.waiting.has(id)) this.close(id, card);
    }
    for (const approval of waiting) {
      if (!this.cards.has(approval.id)) {
        const card = new Card(approval, () => this.remove(approval.id));
        this.cards.set(approval.id, card);
        this.element.append(card.element);
      }
      const isSame = (it) => it.agent === approval.agent && it.thread === approval.thread;
      this.cards.get(approval.id).tellOthers(waiting.filter(isSame).length);
    }
  }

  /** Removes the card of what no longer waits, unless a person has something to read or keep. */
  close(id, card) {
    const decided = state.decided.find((it) => it.id === id);
    if (!card.isBusy()) {
      this.remove(id);
      return;
    }
    if (card.isOver) return;
    const what = decided ? `It was ${DECISIONS[decided.decision] ?? decided.decision} elsewhere.`
      : 'It no longer waits.';
    card.end(`${what} What you wrote was not sent.`);
  }

  remove(id) {
    this.cards.get(id)?.element.remove();
    this.cards.delete(id);
    touch('approvals');
  }

  tick(now) {
    for (const card of this.cards.values()) card.tick(now);
  }

  focusFirst() {
    this.element.querySelector('.card')?.focus();
  }
}

/** Who asks: a hook that asks alone by its name, several by name and reason, with what was answered before. */
function askedBy(askers) {
  const name = (it) => (it.hook ? shown(it.hook) : 'the tool');
  if (!askers.length) return '';
  if (askers.length === 1) return h('p.faint', {}, `Asked by ${name(askers[0])}`);
  return h('ul.askers', { 'aria-label': 'Asked by' }, askers.map((it) => h('li', {},
    h('span.faint', {}, `${name(it)}${it.is_answered ? ', answered before' : ''} `),
    h('span', {}, shown(it.reason ?? '')))));
}

/** What hooks know of the arguments, such as where they came from. */
function told(notes) {
  if (!notes.length) return '';
  return h('ul.notes', { 'aria-label': 'What is known of the arguments' }, notes.map((it) =>
    h('li', {}, it.argument ? h('code', {}, shown(it.argument)) : 'The call', ` ${shown(it.text)}`)));
}

class Card {
  constructor(approval, remove) {
    this.approval = approval;
    this.remove = remove;
    this.isOver = false;
    this.times = h('span.times');
    this.form = h('div.decision');
    this.others = h('p.note');
    this.status = h('p.status', { role: 'status' });
    const { tool, agent, agents = [], thread, description, why, askers = [], notes = [] }
      = approval;
    const path = [agent, ...agents].map(shown).join(' › ');
    this.element = h('article.card', { tabIndex: -1, 'aria-label': `Approval of ${shown(tool)}` },
      h('header', {}, h('h3', {}, shown(tool)), this.times),
      h('p.from', {}, path, h('span.faint', {}, ` thread ${shown(thread)}`)),
      description || why ? h('p.why', {}, shown(description || whyOf(why))) : '',
      askedBy(askers),
      h('h4', {}, 'Arguments'),
      approval.hidden
        ? h('p.note', {}, 'The studio shows no content, so the call can only be denied.')
        : longText('pre.code', approval.shown),
      told(notes),
      this.others, this.form, this.status,
      h('a.link', { href: `#/run/${encodeURIComponent(approval.run)}` }, 'Open the run'));
    this.buttons();
    this.tick(Date.now());
  }

  /** Says that other questions hold the call too. */
  tellOthers(all) {
    say(this.others, all > 1 ? `The call goes on when all ${all} questions of its thread are decided.`
      : '');
  }

  allows(kind) {
    return !this.approval.allowed || this.approval.allowed.includes(kind);
  }

  buttons() {
    const { agent } = this.approval;
    this.draft = null;
    if (agentOf(agent) && !agentOf(agent).decides) {
      fill(this.form, h('p.note', {}, `Give the studio the agent ${shown(agent)} to decide here.`));
      return;
    }
    const remember = this.rememberFor();
    const approve = () => this.send(remember?.value
      ? { decision: 'approve', remember: Number(remember.value) } : { decision: 'approve' });
    fill(this.form, h('div.actions', {},
      this.allows('approve') && button('Approve', approve, '.primary'),
      this.allows('edit') && button('Edit', () => this.edit()),
      this.allows('reject') && button('Deny', () => this.deny(), '.danger')),
      remember && h('label.remember', {}, 'An approval counts ', remember));
  }

  /** What an approval may be remembered for: once, unless the person chooses more. */
  rememberFor() {
    const choices = this.allows('approve') ? this.approval.remember ?? [] : [];
    if (!choices.length) return null;
    return h('select', {}, h('option', { value: '' }, 'once'),
      choices.map((text, index) => h('option', { value: String(index) }, shown(text))));
  }

  edit() {
    const text = this.approval.source;
    const area = h('textarea.code', { value: text, spellcheck: false, rows:
      Math.min(16, text.split('\n').length + 1), 'aria-label': 'Arguments as JSON' });
    const problem = h('p.problem', { id: `problem-${this.approval.id}` });
    area.setAttribute('aria-describedby', problem.id);
    const send = button('Approve these', () => this.send({ decision: 'edit', input: area.value }),
      '.primary');
    const check = () => {
      let message = '';
      try {
        const input = JSON.parse(area.value);
        const isObject = input && typeof input === 'object' && !Array.isArray(input);
        if (!isObject) message = 'Arguments are a JSON object: { … }.';
      } catch (error) {
        message = `This is not JSON: ${error.message}`;
      }
      say(problem, message);
      area.setAttribute('aria-invalid', message !== '');
      send.disabled = message !== '';
      this.draft = area.value === text ? null : area.value;
    };
    area.addEventListener('input', check);
    this.problem = problem;
    fill(this.form, area, problem, h('div.actions', {}, send, button('Cancel', () => this.back())));
    area.focus();
  }

  deny() {
    const reason = h('textarea', { rows: 2, placeholder: 'Why not? The model reads it.',
      'aria-label': 'Reason', oninput: () => { this.draft = reason.value || null; } });
    const send = () => this.send({ decision: 'deny', reason: reason.value.trim() || undefined });
    fill(this.form, reason, h('div.actions', {}, button('Deny the call', send, '.danger.solid'),
      button('Cancel', () => this.back())));
    reason.focus();
  }

  back() {
    this.buttons();
    this.element.focus();
  }

  async send(decision) {
    const { id, digest, tool } = this.approval;
    const all = [...this.form.querySelectorAll('button, textarea')];
    this.isSending = true;
    for (const it of all) it.disabled = true;
    say(this.status, 'Sending.');
    try {
      await api.decide(id, { ...decision, digest });
      this.draft = null;
      this.isSending = false;
      this.isOver = true;
      announce(`${shown(tool)}: ${DECISIONS[decision.decision]}`);
      say(this.status, `${sentence(DECISIONS[decision.decision])} at ${clock(Date.now())}.`);
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
    say(this.status, text);
    const keep = this.draft && h('pre.code', {}, shown(this.draft));
    fill(this.form, keep, h('div.actions', {}, button('Dismiss', this.remove)));
  }

  tick(now) {
    const { since, expires } = this.approval;
    const waits = ago(since, now);
    const parts = [waits === 'now' ? 'asked now' : `waits ${waits}`];
    if (expires) parts.push(expires > now ? `expires in ${duration(expires - now)}` : 'expired');
    say(this.times, parts.join(' · '));
    this.element.classList.toggle('is-late', Boolean(expires) && expires - now < 60_000);
  }
}

const sentence = (text) => text[0].toUpperCase() + text.slice(1);

/** What was decided, the latest first. */
export function decidedList() {
  if (!state.decided.length) return h('p.missing', {}, 'Nothing was decided yet.');
  return h('ul.decided', {}, state.decided.map((it) => h('li', {},
    h(`span.chip.${it.decision}`, {}, DECISIONS[it.decision] ?? shown(it.decision)),
    h('span.tool-name', {}, shown(it.tool)),
    h('span.muted', {}, `${shown(it.agent)} · ${shown(it.thread)}`),
    it.reason && h('span.wrap', {}, shown(it.reason)),
    h('span.faint.end', { title: date(it.at) }, `${it.by ? `${shown(it.by)}, ` : ''}${clock(it.at)}`),
    h('a.link', { href: `#/run/${encodeURIComponent(it.run)}` }, 'Run'))));
}

/** The approvals that are remembered, each with what it lets run and how to end it. */
export class RememberedList {
  constructor() {
    this.element = h('section.remembered', { 'aria-label': 'Remembered' });
  }

  async load() {
    let all;
    try {
      all = (await api.remembered()).remembered;
    } catch (error) {
      fill(this.element, h('h2', {}, 'Remembered'), h('p.problem', {}, shown(error.message)));
      return;
    }
    fill(this.element, h('h2', {}, 'Remembered'), all.length
      ? h('ul.decided', {}, all.map((it) => this.row(it)))
      : h('p.missing', {}, 'No approval is remembered.'));
  }

  row(it) {
    const path = [it.agent, ...it.agents].map(shown).join(' › ');
    const whom = it.thread ? `thread ${it.thread}` : it.reach === 'for this user' ? `user ${it.user}` : it.reach;
    const rule = it.arguments === undefined ? '' : `${it.rule} · shown: ${it.arguments}`;
    const end = button('Revoke', () => this.revoke(it, end), '.danger');
    return h('li', {},
      h('span.tool-name', {}, shown(it.tool)),
      h('span.muted', {}, `${path} · ${shown(whom)}`),
      h('span.wrap', {}, shown(rule)),
      h('span.faint', { title: date(it.given_at) },
        `by ${shown(it.given_by)}, ${clock(it.given_at)}; used ${it.uses} of ${it.most_uses}; until ${date(it.expires)}`),
      end);
  }

  async revoke(it, end) {
    end.disabled = true;
    try {
      await api.revoke(it.id);
      announce(`The approval of ${shown(it.tool)} is revoked`);
    } catch (error) {
      announce(error.message);
    }
    await this.load();
  }
}

/** The number of what waits, in words. */
export const waitingText = () => `${count(state.waiting.size, 'tool call')} ${
  state.waiting.size === 1 ? 'waits' : 'wait'} for a decision`;
