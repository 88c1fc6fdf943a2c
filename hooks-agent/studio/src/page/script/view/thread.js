// A conversation: the runs of a thread in their order, or what is stored of it.

import { api } from './api.js';
import { inTurns, threadIn } from './conversations.js';
import { STATES } from './entry.js';
import { agentLink, threadLink } from './place.js';
import { agentOf, mayAct, sees, state } from './state.js';
import { composer } from './agents.js';
import { arrange, backLink, button, fact, fill, h, morph } from './dom.js';
import { amount, compact, date, number, shown } from './format.js';
import { Piece } from './piece.js';
import { StoredMessages } from './stored.js';

export class ThreadPage {
  constructor(main) {
    this.main = main;
    this.head = h('header.run-head');
    this.runs = h('ol.pieces', { ariaLabel: 'Runs' });
    this.earlier = button('Show earlier runs', () => this.loadOlder(), '.link');
    this.missing = h('p.missing', {}, 'No run of this thread is known.');
    this.stored = new StoredMessages();
    this.body = h('div.thread');
    this.foot = h('div.run-foot');
    this.near = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) this.pieces.get(target.dataset.run)?.load();
    }, { root: main, rootMargin: '600px 0px' });
  }

  /** Shows the thread that the address names. */
  show({ id: agent, more: thread, query }) {
    Object.assign(this, { agent, thread, shape: '', canChat: null, older: new Map(), next: undefined,
      pieces: new Map() });
    this.near.disconnect();
    if (agent) fill(this.main, this.head, this.body, this.foot);
    else fill(this.main, h('div.blank', {}, h('h1', {}, 'Conversations'), h('p', {}, 'Choose one to see its runs.')));
    this.turn(query);
  }

  /** Follows the rest of the address. */
  turn(query) {
    Object.assign(this, { at: query.get('at'), wanted: query.get('show') });
    this.draw();
  }

  /** Loads runs that the program no longer has at hand. What is known is shown all the same if it cannot. */
  async loadOlder() {
    const { agent, thread, older, next } = this;
    this.next = null;
    const found = await api.history({ agent, thread, ...(next && { before: next }) }).catch(() => null);
    if (older !== this.older || !found) return;
    for (const run of found.runs) older.set(run.run, run);
    this.next = found.next;
    this.draw();
  }

  draw() {
    if (!this.body.isConnected) return;
    if (state.hasHistory && this.next === undefined) this.loadOlder();
    const known = threadIn(new Map([...this.older, ...state.runs]), this.agent, this.thread);
    const agent = agentOf(this.agent);
    const canRead = agent?.forks && sees('threads');
    const isStored = canRead && (this.wanted ?? (known.runs.length ? '' : 'messages')) === 'messages';
    morph(this.head, this.header(known, canRead, isStored));
    if (isStored) this.drawStored(known);
    else this.drawRuns(known);
    const canChat = agent?.chat && mayAct() && !['running', 'waiting'].includes(known.state);
    if (this.canChat !== canChat) fill(this.foot, canChat && composer(this.agent, this.thread));
    this.canChat = canChat;
  }

  header({ title, user, state: now, runs, input, output, cost }, canRead, isStored) {
    const tab = (text, show, isHere) => h('a', { href: threadLink(this.agent, this.thread, { show }),
      ariaCurrent: isHere ? 'true' : null }, text);
    return h('header.run-head', {}, backLink('#/threads', 'Conversations'), h('div.run-title', {}, h('h1', {}, title),
      h('span.spacer'), canRead && h('nav.ranges', { ariaLabel: 'Conversation' }, tab('Runs', 'runs', !isStored),
        tab('Stored messages', 'messages', isStored))),
    h('dl.facts', {}, fact('Agent', h('a.link', { href: agentLink(this.agent) }, shown(this.agent))),
      fact('Thread', shown(this.thread)), user && fact('User', shown(user)),
      fact('Runs', number(runs.length) + (this.next ? ', and earlier' : '')),
      runs.length > 0 && [fact('Last', STATES[now] ?? shown(now)), fact('Began', date(runs[0].started)),
        fact('Tokens', `${compact(input)} in, ${compact(output)} out`)], cost > 0 && fact('Cost', amount(cost))));
  }

  drawRuns({ runs }) {
    this.earlier.hidden = !this.next;
    this.missing.hidden = runs.length > 0 || !state.hasLoaded;
    arrange(this.runs, inTurns(runs).map(({ run, isNext }) => {
      if (!this.pieces.has(run.run)) {
        this.pieces.set(run.run, new Piece(run));
        this.near.observe(this.pieces.get(run.run).element);
      }
      this.pieces.get(run.run).draw(run, isNext);
      return this.pieces.get(run.run).element;
    }));
    arrange(this.body, [this.earlier, this.missing, this.runs]);
    const there = this.pieces.get(this.at)?.element;
    if (!there) return;
    this.at = null;
    there.focus({ preventScroll: true });
    there.scrollIntoView();
  }

  drawDecisions() {
    if (this.body.isConnected) for (const it of this.pieces.values()) it.drawDecisions();
  }

  drawStored({ runs, state: now }) {
    const shape = [runs.length, now, mayAct()].join();
    if (this.shape !== shape || !this.stored.element.isConnected) this.stored.load(this.agent, this.thread);
    this.shape = shape;
    arrange(this.body, [this.stored.element]);
  }
}
