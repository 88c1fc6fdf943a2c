// One run: its head, and the tree of what happened.

import { api } from './api.js';
import { STATES, REASONS } from './entry.js';
import { agentOf, openRun, state, titleOf, touch } from './state.js';
import { announce, button, fill, h, icon, say } from './dom.js';
import { clock, compact, count, date, duration, number, shown } from './format.js';
import { headButton, placeBar, renderRow, updateRow } from './rows.js';
import { composer } from './agents.js';
import { Windowed } from './windowed.js';

const QUIET = 'studio-quiet-hooks';
const isOpenFirst = (node) => node.kind !== 'hooks';

export class RunPage {
  constructor(main) {
    this.main = main;
    this.head = h('header.run-head');
    this.tree = h('div.tree', { role: 'tree', 'aria-label': 'What happened', tabIndex: 0 });
    this.foot = h('div.run-foot');
    this.follow = button('Follow', () => this.toEnd(), '.follow');
    this.list = new Windowed({
      root: this.tree,
      scroller: main,
      render: (row) => renderRow(row, (key) => this.toggle(key)),
      update: updateRow,
    });
    this.showsQuiet = localStorage.getItem(QUIET) === 'yes';
    this.rows = new Map();
    this.isFollowing = true;
    main.addEventListener('scroll', () => this.noteScroll(), { passive: true });
    // One stop for the tab key: the tree, or the row that was focused last.
    this.tree.addEventListener('focus', () => this.focus(this.current ?? this.list.rows[0]?.key));
    this.tree.addEventListener('focusin', (event) => {
      this.tree.tabIndex = -1;
      this.current = event.target.closest('.row')?.dataset.key ?? this.current;
    });
    this.tree.addEventListener('focusout', () => { this.tree.tabIndex = 0; });
    this.tree.addEventListener('dblclick', (event) => {
      const row = event.target.closest('.row');
      if (row && event.target.closest('.head')) this.toggle(row.dataset.key);
    });
  }

  /** Shows the run that is open. */
  show() {
    this.view = null;
    fill(this.main, this.head, this.tree, this.foot, this.follow);
    this.isFollowing = true;
    this.lastTop = 0;
    this.follow.hidden = true;
    this.draw();
  }

  draw() {
    const view = state.open;
    if (!view || !this.head.isConnected) return;
    if (view !== this.view) {
      const isSame = this.view?.id === view.id;
      this.view = view;
      this.version = -1;
      if (!isSame) {
        this.rows.clear();
        this.list.clear();
        this.current = null;
        fill(this.foot);
        this.headState = null;
      }
    }
    this.drawHead(view);
    if (view.version !== this.version) {
      this.version = view.version;
      this.list.set(this.flatten(view.tree));
    }
    for (const node of view.dirty) this.list.refresh(node.key);
    view.dirty.clear();
    this.tick();
    if (this.isFollowing && this.isLive()) this.toEnd();
  }

  isRunning() {
    return this.view?.tree?.summary?.state === 'running';
  }

  /** Whether it runs, or ended just now: its last entries may follow. */
  isLive() {
    return this.isRunning() || Date.now() - (this.view?.tree?.end ?? 0) < 2000;
  }

  /** Shows what was decided meanwhile. */
  drawDecisions() {
    for (const [key, { row }] of this.list.elements) {
      if (row.node.kind === 'asked') this.list.refresh(key);
    }
  }

  drawHead(view) {
    const run = view.tree?.summary ?? state.runs.get(view.id);
    if (view.error || !run) {
      const text = view.error?.message ?? 'Loading the run.';
      fill(this.head, backLink(), h('h1', {}, view.error ? 'This run is not here' : 'Run'),
        h('p.missing', {}, text));
      return;
    }
    const quiet = this.countQuiet();
    const shape = [run.state, run.title, quiet, this.showsQuiet, view.isLoaded, run.dropped].join();
    if (shape !== this.headState) {
      this.headState = shape;
      this.facts = new Map();
      const fact = (name) => {
        const value = h('dd');
        this.facts.set(name, value);
        return h('div.fact', {}, h('dt', {}, name), value);
      };
      fill(this.head, backLink(),
        h('div.run-title', {},
          h('h1', {}, titleOf(run)),
          h(`span.chip.state.${run.state}`, {}, STATES[run.state] ?? run.state),
          h('span.spacer'),
          h('div.head-actions', {},
            quiet > 0 && headButton(`Quiet hooks ${number(quiet)}`, () => this.toggleQuiet(),
              this.showsQuiet),
            this.foldButton(),
            run.state === 'running' && this.interruptButton(run))),
        h('dl.facts', {}, ['Agent', 'Thread', 'User', 'Started', 'Took', 'Rounds', 'Tools', 'Tokens', 'Run']
          .map(fact)),
        run.dropped > 0 && h('p.note', {}, `The first ${count(run.dropped, 'event')} of this run are`
          + ' no longer kept.'));
      this.drawFoot(run);
    }
    this.fact('Agent', shown(run.agent));
    this.fact('Thread', shown(run.thread));
    this.fact('User', run.user ? shown(run.user) : 'nobody');
    this.fact('Rounds', number(run.rounds));
    this.fact('Tools', number(run.tools));
    const [input, output] = [run.input_tokens, run.output_tokens];
    this.fact('Tokens', input || output ? `${compact(input)} in, ${compact(output)} out` : 'none');
    this.fact('Started', clock(run.started));
    this.facts.get('Started').title = date(run.started);
    this.facts.get('Run').title = run.run;
    this.fact('Run', run.run.slice(0, 8));
  }

  fact(name, text) {
    say(this.facts.get(name), text);
  }

  drawFoot(run) {
    const canChat = agentOf(run.agent)?.chat && !run.parent && run.state !== 'running';
    const reason = REASONS[run.reason] ?? '';
    if (!canChat || run.state === 'waiting') fill(this.foot);
    else if (!this.foot.firstChild) fill(this.foot, composer(run.agent, run.thread));
    if (this.isOver === false && run.state !== 'running') {
      announce(`${titleOf(run)}: ${STATES[run.state] ?? run.state} ${reason}`);
    }
    this.isOver = run.state !== 'running';
  }

  interruptButton(run) {
    const made = button('Interrupt', async () => {
      made.disabled = true;
      try {
        await api.interrupt(run.run);
        say(made, 'Interrupting');
      } catch (error) {
        announce(error.message);
        made.title = error.message;
        made.disabled = false;
      }
    }, '.danger');
    return made;
  }

  foldButton() {
    const made = headButton('Collapse', () => {
      const isOpen = made.textContent === 'Expand';
      this.foldAll(isOpen);
      say(made, isOpen ? 'Collapse' : 'Expand');
    });
    return made;
  }

  countQuiet() {
    let quiet = 0;
    const visit = (node) => {
      if (node.kind === 'hooks') quiet += node.children.length;
      else node.children.forEach(visit);
    };
    if (this.version !== this.view.version && this.view.tree) {
      visit(this.view.tree);
      this.quiet = quiet;
    }
    return this.quiet ?? 0;
  }

  flatten(tree) {
    const rows = [];
    const visit = (node, depth, position) => {
      if (node.kind === 'hooks' && !this.showsQuiet) return;
      const isOpen = this.view.folds.get(node.key) ?? isOpenFirst(node);
      const hasChildren = node.children.some((it) => it.kind !== 'hooks' || this.showsQuiet);
      let row = this.rows.get(node.key);
      if (row?.node !== node || row.depth !== depth || row.isOpen !== isOpen
        || row.hasChildren !== hasChildren || row.position !== position) {
        row = { key: node.key, node, depth, position, isOpen, hasChildren };
        this.rows.set(node.key, row);
      }
      rows.push(row);
      if (isOpen) node.children.forEach((child, at) => visit(child, depth + 1, at + 1));
    };
    tree?.children.forEach((child, at) => visit(child, 0, at + 1));
    return rows;
  }

  /** Brings times and bars of the rows in the document up to date. */
  tick() {
    const tree = this.view?.tree;
    if (!tree || !this.head.isConnected) return;
    const now = Date.now();
    const until = tree.end ?? now;
    for (const { element } of this.list.elements.values()) placeBar(element, tree.at, until, now);
    if (this.facts && tree.summary) this.fact('Took', duration(until - tree.at));
  }

  toggle(key, isOpen) {
    const row = this.rows.get(key);
    if (!row?.hasChildren) return;
    this.view.folds.set(key, isOpen ?? !row.isOpen);
    this.redraw();
  }

  foldAll(isOpen) {
    for (const { key, node } of [...this.rows.values()]) {
      if (node.kind === 'round' || node.kind === 'tool' || node.kind === 'run') {
        this.view.folds.set(key, isOpen);
      }
    }
    this.redraw();
  }

  toggleQuiet() {
    this.showsQuiet = !this.showsQuiet;
    localStorage.setItem(QUIET, this.showsQuiet ? 'yes' : 'no');
    this.redraw();
  }

  redraw() {
    this.version = -1;
    this.draw();
  }

  noteScroll() {
    if (!this.head.isConnected) return;
    // What is added below moves nothing: only a person scrolls up.
    const { scrollTop, scrollHeight, clientHeight } = this.main;
    if (scrollHeight - scrollTop - clientHeight < 60) this.isFollowing = true;
    else if (scrollTop < this.lastTop) this.isFollowing = false;
    this.lastTop = scrollTop;
    this.follow.hidden = this.isFollowing || !this.isRunning();
  }

  toEnd() {
    this.main.scrollTop = this.main.scrollHeight;
    this.isFollowing = true;
    this.follow.hidden = true;
  }

  /** Moves the focus by so many rows; from outside to the first row. */
  move(by) {
    const keys = this.list.rows.map((row) => row.key);
    const now = keys.indexOf(document.activeElement?.closest?.('.row')?.dataset.key);
    const next = now < 0 ? (by > 0 ? 0 : keys.length - 1)
      : Math.min(keys.length - 1, Math.max(0, now + by));
    this.focus(keys[next]);
  }

  focus(key) {
    const element = this.list.reach(key);
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: 'nearest' });
  }

  /** Opens the run, which the address names. */
  static open(id) {
    openRun(id);
    touch('open');
  }
}

function backLink() {
  return h('a.back', { href: '#/', 'aria-label': 'Back to the runs' }, icon('back'), 'Runs');
}
