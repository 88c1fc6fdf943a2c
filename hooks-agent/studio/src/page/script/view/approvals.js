// Tool calls that wait for a person, and what was decided.

import { api } from './api.js';
import { Card } from './card.js';
import { DECISIONS } from './entry.js';
import { runLink } from './place.js';
import { mayAct, state, touch } from './state.js';
import { action, announce, arrange, fill, h } from './dom.js';
import { clock, count, date, shown } from './format.js';

/** The cards of what waits, in one place of the page. */
export class Cards {
  constructor() {
    this.element = h('div.cards');
    this.cards = new Map();
    /** The id of the card that a person opened, '' if they closed it, `undefined` without a choice. */
    this.chosen = undefined;
    this.isPage = false;
  }

  /** `isPage`: the cards are the view, and not beside another one. */
  draw(isPage = this.isPage) {
    if (this.isPage !== isPage && !this.cards.get(this.chosen)?.draft) this.chosen = undefined;
    this.isPage = isPage;
    for (const [id, card] of this.cards) {
      if (!state.waiting.has(id)) this.close(id, card);
    }
    const waiting = this.sorted();
    for (const approval of waiting) {
      if (!this.cards.has(approval.id)) this.cards.set(approval.id, new Card(approval, this));
      const isSame = (it) => it.run === approval.run && it.id !== approval.id;
      this.cards.get(approval.id).tellOthers(waiting.filter(isSame).map((it) => it.tool));
    }
    // Those that a person has to read stay where they are.
    const order = waiting.map((it) => this.cards.get(it.id).element);
    [...this.element.children].forEach((it, at) => {
      if (!order.includes(it)) order.splice(at, 0, it);
    });
    arrange(this.element, order);
    this.openOne(waiting);
  }

  /** What waits: that of the open run first, then the oldest first. */
  sorted() {
    const ofOpen = (it) => state.open?.trees.has(it.run) ?? false;
    return [...state.waiting.values()].sort((one, other) => ofOpen(other) - ofOpen(one)
      || one.since - other.since);
  }

  openOne([first]) {
    if (this.chosen && !state.waiting.has(this.chosen)) this.chosen = undefined;
    const isUsual = first && (this.isPage || (state.open?.trees.has(first.run) ?? false));
    this.opened = this.chosen ?? (isUsual ? first.id : '');
    for (const [id, card] of this.cards) card.open(id === this.opened);
  }

  toggle(id) {
    this.chosen = this.opened === id ? '' : id;
    this.openOne(this.sorted());
  }

  /** Removes the card of what no longer waits, unless a person has something to read or keep. */
  close(id, card) {
    const decided = state.decided.find((it) => it.id === id);
    if (!card.isBusy()) this.remove(id);
    if (!card.isBusy() || card.isOver || card.isSending) return;
    const what = decided ? `It was ${DECISIONS[decided.decision] ?? decided.decision} elsewhere.`
      : 'It no longer waits.';
    card.end(`${what} What you wrote was not sent.`);
  }

  /** Removes a card. The focus that was in it goes to the next one, or to the heading. */
  remove(id) {
    const card = this.cards.get(id);
    if (!card) return;
    const hadFocus = card.element.contains(document.activeElement);
    const beside = card.element.nextElementSibling ?? card.element.previousElementSibling;
    card.element.remove();
    this.cards.delete(id);
    touch('approvals');
    if (!hadFocus) return;
    const [next, to] = [...this.cards].find(([, it]) => it.element === beside) ?? [];
    if (this.isPage) this.chosen = next;
    this.openOne(this.sorted());
    if (to) to.focus();
    else focusHeading();
  }

  tick(now) {
    for (const card of this.cards.values()) card.tick(now);
  }

  focusFirst() {
    const [first] = this.sorted();
    if (!first) return;
    if (!this.opened) this.toggle(first.id);
    (this.cards.get(this.opened) ?? this.cards.get(first.id))?.focus();
  }
}

function focusHeading() {
  const heading = document.querySelector('main h1') ?? document.querySelector('main');
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

export function decidedList() {
  if (!state.decided.length) return h('p.missing', {}, 'Nothing was decided yet.');
  return h('ul.decided', {}, state.decided.map((it) => h('li', {},
    h(`span.chip.${it.decision}`, {}, DECISIONS[it.decision] ?? shown(it.decision)),
    h('span.tool-name', {}, shown(it.tool)),
    h('span.muted', {}, `${shown(it.agent)} · ${shown(it.thread)}`),
    it.reason && h('span.wrap', {}, shown(it.reason)),
    h('span.faint.end', { title: date(it.at) }, `${it.by ? `${shown(it.by)}, ` : ''}${clock(it.at)}`),
    h('a.link', { href: runLink(it.run) }, 'Run'))));
}

/** The approvals that are remembered, each with what it lets run and how to end it. */
export class RememberedList {
  constructor() {
    this.element = h('section.recent.remembered', { ariaLabel: 'Remembered' });
  }

  async load() {
    let told;
    try {
      const { remembered: all } = await api.remembered();
      told = all.length ? h('ul.decided', {}, all.map((it) => this.row(it)))
        : h('p.missing', {}, 'No approval is remembered.');
    } catch (error) {
      told = h('p.problem', {}, shown(error.message));
    }
    fill(this.element, h('h2', {}, 'Remembered'), told);
  }

  row(it) {
    const path = [it.agent, ...it.agents].map(shown).join(' › ');
    const whom = it.thread ? `thread ${it.thread}` : it.reach === 'for this user' ? `user ${it.user}` : it.reach;
    const rule = it.arguments === undefined ? '' : `${it.rule} · shown: ${it.arguments}`;
    return h('li', {},
      h('span.tool-name', {}, shown(it.tool)),
      h('span.muted', {}, `${path} · ${shown(whom)}`),
      h('span.wrap', {}, shown(rule)),
      h('span.faint', { title: date(it.given_at) },
        `by ${shown(it.given_by)}, ${clock(it.given_at)}; used ${it.uses} of ${it.most_uses}; until ${date(it.expires)}`),
      mayAct() && action('Revoke', () => this.revoke(it), '.danger'));
  }

  async revoke({ id, tool }) {
    try {
      await api.revoke(id);
      announce(`The approval of ${shown(tool)} is revoked`);
    } finally {
      await this.load();
    }
  }
}

export const waitingText = () => `${count(state.waiting.size, 'tool call')} ${
  state.waiting.size === 1 ? 'waits' : 'wait'} for a decision`;
