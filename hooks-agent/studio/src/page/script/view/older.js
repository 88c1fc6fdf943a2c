// Runs that a store keeps, below those of the list: those that fit the filters, page by page.

import { api } from './api.js';
import { filters } from './place.js';
import { state } from './state.js';
import { button, h, say } from './dom.js';
import { count, shown } from './format.js';
import { RunItems } from './run_items.js';
import { LEAST } from './search.js';

const AT_ONCE = 200;

/** What the filters ask the history for. A text that is too short asks for nothing. */
function asked() {
  const query = filters();
  if ((query.q?.length ?? LEAST) < LEAST) delete query.q;
  return query;
}

export class Older {
  constructor() {
    this.items = new RunItems('Older runs');
    this.head = h('h2');
    this.note = h('p', { role: 'status' });
    this.more = button('', () => this.load());
    this.element = h('section.older', { ariaLabel: 'Older runs', hidden: true }, this.head,
      this.items.element, this.note, this.more);
    this.begin({});
  }

  /** Takes the filters: without any, a person asks for older runs by the button. */
  take() {
    const query = asked();
    if (!state.hasHistory || JSON.stringify(query) === this.key) return;
    this.begin(query);
    if (Object.keys(query).length) this.load();
  }

  begin(query) {
    // `next` is where the next page begins: `undefined` for the first one, `null` after the last one.
    Object.assign(this, { query, key: JSON.stringify(query), runs: [], next: undefined, error: null,
      isLoading: false, lost: 0 });
    this.draw();
  }

  /** Loads the next page that has a run which the list above does not have. */
  async load() {
    if (this.isLoading) return;
    const { query } = this;
    const before = this.found().length;
    Object.assign(this, { isLoading: true, error: null });
    this.draw();
    try {
      do {
        const page = { ...query, limit: AT_ONCE, ...(this.next && { before: this.next }) };
        const { runs, next, lost = 0 } = await api.history(page);
        if (query !== this.query) return;
        this.runs.push(...runs);
        Object.assign(this, { next: next ?? null, lost });
      } while (this.next && this.found().length === before);
    } catch (error) {
      if (query !== this.query) return;
      this.error = error;
    }
    this.isLoading = false;
    this.draw();
  }

  /** The runs that are not in the list above; those below other ones if they say the text. */
  found() {
    return this.runs.filter((it) => !state.runs.has(it.run) && (this.query.q || !it.parent));
  }

  draw() {
    this.element.hidden = !state.hasHistory;
    const found = this.found();
    const isSaid = this.query.q !== undefined;
    const isBegun = this.isLoading || this.error || this.next !== undefined;
    this.head.hidden = this.note.hidden = !isBegun;
    say(this.head, isSaid ? 'Older runs that say this' : 'Older runs');
    this.items.draw(found);
    this.note.className = this.error ? 'problem' : 'faint';
    const none = isSaid ? 'No older run says this.' : 'There are no older runs like these.';
    say(this.note, this.error ? shown(this.error.message) : this.isLoading ? 'Loading.'
      : (found.length ? `${count(found.length, 'older run')}${this.next ? ', and more' : ''}.` : none)
        + (this.lost ? ` The store could not keep ${count(this.lost, 'run')}.` : ''));
    say(this.more, this.error ? 'Try again' : this.next ? 'More older runs' : 'Older runs');
    const isLost = this.next === null && document.activeElement === this.more;
    this.more.hidden = this.next === null;
    if (isLost) this.items.element.lastElementChild?.firstChild.focus();
  }
}
