// What runs say: hits of a text in what happened, below the list of runs.

import { api } from './api.js';
import { runLink } from './place.js';
import { state, titleOf } from './state.js';
import { fill, h } from './dom.js';
import { date, shown } from './format.js';

/** How many characters are looked for at least. */
export const LEAST = 2;

export class Search {
  constructor() {
    this.element = h('section.hits', { ariaLabel: 'In what runs say', hidden: true });
    this.asked = '';
  }

  /** Asks for this text, and shows the answer unless another one was asked for meanwhile. */
  async ask(text) {
    if (text === this.asked) return;
    this.asked = text;
    if (text.length < LEAST) return this.show();
    try {
      const found = await api.search(text);
      if (text === this.asked) this.show(found, text);
    } catch (error) {
      // A program without a search has no such address.
      if (text === this.asked) this.show(error.status === 404 ? undefined : { error });
    }
  }

  show(found, text) {
    this.element.hidden = !found;
    if (!found) return fill(this.element);
    const { hits = [], more, error } = found;
    return fill(this.element, h('h2', {}, 'In what runs say'),
      h('p.unseen', { role: 'status' }, error ? '' : `${hits.length} found in what runs say`),
      error && h('p.problem', {}, shown(error.message)),
      !error && !hits.length && h('p.missing', {}, 'No run says this. Fewer letters find more.'),
      h('ul', {}, hits.map((it) => h('li', {}, hitLink(it, text)))),
      more && h('p.faint', {}, 'There is more. A longer text finds less.'));
  }
}

function hitLink({ run, seq, ts, agent, type, text }, wanted) {
  const known = state.runs.get(run);
  const title = known ? titleOf(known) : `Run ${String(run).slice(0, 8)}`;
  return h('a.hit', { href: runLink(run, seq), title: date(ts) },
    h('span.found', {}, marked(shown(text), wanted)),
    h('span.who', {}, `${title} · ${shown(agent)} · ${shown(type).replaceAll('_', ' ')}`));
}

/** The text with the wanted one marked, beginning near it. */
function marked(text, wanted) {
  const at = text.toLowerCase().indexOf(wanted.toLowerCase());
  if (at < 0) return text;
  const begin = at > 40 ? at - 30 : 0;
  const end = at + wanted.length;
  return [begin > 0 && '… ', text.slice(begin, at), h('mark', {}, text.slice(at, end)), text.slice(end)];
}
