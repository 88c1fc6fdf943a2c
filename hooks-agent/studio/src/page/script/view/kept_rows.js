// The row of a run that a person chose, and those that a person opened or closed, in the address.

import { settled, writePlace } from './place.js';
import { state } from './state.js';

const MOST = 40;
const OF_RUN = /^[0-9a-f-]{36}:/;

export class KeptRows {
  constructor(main, run) {
    this.run = run;
    this.wanted = null;
    const write = settled(() => this.write());
    for (const kind of ['focusin', 'click', 'keydown']) main.addEventListener(kind, write);
  }

  /** Brings back what the address of a run says, once the rows are there. */
  take(query) {
    const id = state.open.id;
    const whole = (key) => (OF_RUN.test(key) ? key : `${id}:${key}`);
    const keys = (name) => query.get(name)?.split(' ').map(whole) ?? [];
    for (const key of keys('open')) state.open.folds.set(key, true);
    for (const key of keys('shut')) state.open.folds.set(key, false);
    this.wanted = query.has('row') ? whole(query.get('row')) : null;
  }

  draw() {
    if (!this.wanted || !state.open?.isLoaded) return;
    this.run.focus(this.wanted);
    this.wanted = null;
  }

  write() {
    const view = state.open;
    if (!view || this.wanted) return;
    const short = (key) => key.replace(`${view.id}:`, '');
    const those = (isOpen) => [...view.folds].filter(([, it]) => it === isOpen).slice(0, MOST)
      .map(([key]) => short(key)).join(' ');
    writePlace({ row: this.run.current && short(this.run.current), open: those(true), shut: those(false) });
  }
}
