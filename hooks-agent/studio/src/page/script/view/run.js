// One run: its head, the tree of what happened, and the time of it.

import { STATES, REASONS } from './entry.js';
import { runLink } from './place.js';
import { agentOf, mayAct, openRun, state, titleOf, touch } from './state.js';
import { announce, button, fill, h, say } from './dom.js';
import { drawBars, timesOf } from './bars.js';
import { RowTools, copyRow } from './copy.js';
import { duration } from './format.js';
import { renderRow, updateRow } from './rows.js';
import { RunHead } from './run_head.js';
import { composer } from './agents.js';
import { countQuiet, pathTo } from './node.js';
import { hasTime } from './spans.js';
import { Timeline } from './timeline.js';
import { Windowed } from './windowed.js';

const QUIET = 'studio-quiet-hooks';
const PACE = 250;
const isOpenFirst = (node) => node.kind !== 'hooks';
const isFailure = ({ failure, settled, result }) =>
  Boolean(failure || settled?.failure || result?.is_error);

export class RunPage {
  constructor(main) {
    this.main = main;
    this.tree = h('div.tree', { role: 'tree', ariaLabel: 'What happened', tabIndex: 0 });
    this.time = new Timeline(this.tree, {
      changed: () => this.redraw(),
      moved: () => this.tick(),
    });
    this.head = new RunHead(this, this.time.control);
    this.foot = h('div.run-foot');
    this.follow = button('Follow', () => this.toEnd(), '.follow');
    this.list = new Windowed({
      root: this.tree,
      scroller: main,
      render: (row) => this.dress(renderRow(row, (key) => this.toggle(key)), row),
      update: (element, row) => {
        updateRow(element, row);
        this.dress(element, row);
      },
    });
    this.showsQuiet = localStorage.getItem(QUIET) === 'yes';
    this.rows = new Map();
    this.isFollowing = true;
    main.addEventListener('scroll', () => this.noteScroll(), { passive: true });
    const rowOf = (element) => this.rows.get(element.closest('.row')?.dataset.key);
    this.tools = new RowTools(this.tree, rowOf, (node) => this.linkOf(node));
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
    this.tree.addEventListener('pointerover', ({ target }) => {
      const [cell, row] = [target.closest('.bar'), rowOf(target)];
      if (cell && row) cell.title = timesOf(cell.parentElement.spans, this.view.tree.at, Date.now());
    });
  }

  /** Shows the run that is open, and the entry of this number if there is one. */
  show(at) {
    this.view = null;
    this.at = at;
    fill(this.main, this.head.element, this.time.element, this.foot, this.follow);
    this.time.fit();
    this.isFollowing = !at;
    this.lastTop = 0;
    this.follow.hidden = true;
    this.draw();
  }

  draw() {
    const view = state.open;
    if (!view || !this.foot.isConnected) return;
    const isOther = view !== this.view;
    if (isOther) {
      const isSame = this.view?.id === view.id;
      this.view = view;
      this.version = -1;
      if (!isSame) this.forget();
    }
    const isNew = view.version !== this.version;
    if (isNew) this.quiet = countQuiet(view.tree);
    this.head.draw(view, this.quiet, isOther);
    this.drawFoot(view.tree?.summary ?? state.runs.get(view.id));
    this.time.element.hidden = Boolean(view.error);
    this.tick(isOther ? 0 : PACE);
    if (isNew) {
      this.version = view.version;
      this.list.set(this.flatten(view.tree));
    }
    for (const node of view.dirty) this.list.refresh(node.key);
    view.dirty.clear();
    if (this.at && view.isLoaded) this.reveal(this.at);
    else if (this.isFollowing && this.isLive()) this.toEnd();
  }

  forget() {
    this.rows.clear();
    this.list.clear();
    this.current = this.marked = this.isOver = this.footShape = null;
    this.time.part = null;
    fill(this.foot);
  }

  get isRunning() {
    return this.view?.tree?.summary?.state === 'running';
  }

  /** Whether it runs, or ended just now: its last entries may follow. */
  isLive() {
    return this.isRunning || Date.now() - (this.view?.tree?.end ?? 0) < 2000;
  }

  drawDecisions() {
    for (const [key, { row }] of this.list.elements) {
      if (row.node.kind === 'asked') this.list.refresh(key);
    }
  }

  drawFoot(run) {
    if (!run) return;
    const canChat = agentOf(run.agent)?.chat && mayAct() && !run.parent
      && !['running', 'waiting'].includes(run.state);
    const shape = [run.run, run.state, canChat].join();
    if (shape === this.footShape) return;
    this.footShape = shape;
    if (!canChat) fill(this.foot);
    else if (!this.foot.firstChild) fill(this.foot, composer(run.agent, run.thread));
    if (this.isOver === false && run.state !== 'running') {
      announce(`${titleOf(run)}: ${STATES[run.state] ?? run.state} ${REASONS[run.reason] ?? ''}`);
    }
    this.isOver = run.state !== 'running';
  }

  flatten(tree) {
    const rows = [];
    const isTime = this.time.mode === 'time';
    const visit = (node, depth, position) => {
      if (node.kind === 'hooks' && (isTime || !this.showsQuiet)) return;
      const isOpen = this.view.folds.get(node.key) ?? isOpenFirst(node);
      const hasChildren = node.children.some((it) => it.kind !== 'hooks' || this.showsQuiet);
      let row = this.rows.get(node.key);
      if (row?.node !== node || row.depth !== depth || row.isOpen !== isOpen
        || row.hasChildren !== hasChildren || row.position !== position) {
        row = { key: node.key, node, depth, position, isOpen, hasChildren };
        this.rows.set(node.key, row);
      }
      if (!isTime || hasTime(node)) rows.push(row);
      if (isOpen) node.children.forEach((child, at) => visit(child, depth + 1, at + 1));
    };
    tree?.children.forEach((child, at) => visit(child, 0, at + 1));
    return rows;
  }

  dress(element, { key }) {
    element.classList.toggle('is-marked', key === this.marked);
    if (this.time.window) this.drawTime(element, Date.now());
    return element;
  }

  drawTime({ parts: { bar, time }, spans }, now) {
    drawBars(bar, spans, this.time.window, now);
    if (spans[0]?.to === null) say(time, duration(now - spans[0].from));
  }

  /** Brings times and bars of the rows in the document up to date, at most so often while it goes on. */
  tick(pace = 0) {
    const tree = this.view?.tree;
    if (!tree?.at || !this.foot.isConnected) return;
    const now = Date.now();
    this.head.fact('Took', duration((tree.end ?? now) - tree.at));
    if (now - this.ticked < pace) return;
    this.ticked = now;
    if (!this.time.take(tree, now) && tree.end) return;
    for (const { element } of this.list.elements.values()) this.drawTime(element, now);
  }

  toggle(key, isOpen) {
    const row = this.rows.get(key);
    if (!row?.hasChildren) return;
    this.view.folds.set(key, isOpen ?? !row.isOpen);
    this.redraw();
  }

  foldAll(isOpen) {
    for (const { key, node } of this.rows.values()) {
      if (['round', 'tool', 'run'].includes(node.kind)) this.view.folds.set(key, isOpen);
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
    if (!this.foot.isConnected) return;
    // What is added below moves nothing: only a person scrolls up.
    const { scrollTop, scrollHeight, clientHeight } = this.main;
    if (scrollHeight - scrollTop - clientHeight < 60) this.isFollowing = true;
    else if (scrollTop < this.lastTop) this.isFollowing = false;
    this.lastTop = scrollTop;
    this.follow.hidden = this.isFollowing || !this.isRunning;
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
    const next = now >= 0 ? now + by : by > 0 ? 0 : Infinity;
    this.focus(keys[Math.min(keys.length - 1, Math.max(0, next))]);
  }

  focus(key, block = 'nearest') {
    const element = this.list.reach(key);
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block });
    return element;
  }

  nextFailure(by) {
    const { rows } = this.list;
    const now = rows.findIndex((row) => row.key === this.current);
    const at = (step) => rows[(now + step * by + 2 * rows.length) % rows.length];
    for (let step = 1; step <= rows.length; step += 1) {
      if (isFailure(at(step).node)) return this.focus(at(step).key);
    }
    return announce('Nothing failed in what is open.');
  }

  linkOf(node) {
    return runLink(this.view.id, node.seq);
  }

  goTo(at) {
    this.at = at;
    this.draw();
  }

  /** Opens what is around the entry of this number, moves there and marks it. */
  reveal(at) {
    this.at = null;
    const path = pathTo(this.view.tree, this.view.placeOf(Number(at)));
    if (!path?.length) return;
    const { key } = path.at(-1);
    for (const node of path.slice(0, -1)) this.view.folds.set(node.key, true);
    if (path.some((node) => node.kind === 'hooks')) this.showsQuiet = true;
    const before = this.marked;
    this.marked = key;
    this.isFollowing = false;
    this.time.choose(this.time.isTime && hasTime(path.at(-1)));
    this.redraw();
    for (const it of [before, key]) this.list.refresh(it);
    this.focus(key, 'center');
    this.centre(key);
  }

  /** What comes near the window has another height than was expected. */
  centre(key, times = 5) {
    setTimeout(() => {
      const element = this.list.elementOf(key);
      if (!times || !element || element !== document.activeElement) return;
      element.scrollIntoView({ block: 'center' });
      this.centre(key, times - 1);
    }, 60);
  }

  /** What the other keys do; the row is the one with the focus. */
  press(key, element) {
    const row = this.rows.get(element?.dataset.key);
    const [span] = element?.spans ?? [];
    const middle = span && (span.from + (span.to ?? Date.now())) / 2;
    if (key === '+' || key === '=') this.time.zoom(0.5, middle);
    else if (key === '-') this.time.zoom(2, middle);
    else if (key === '0') this.time.showAll();
    else if (key === 'x' || key === 'X') this.nextFailure(key === 'x' ? 1 : -1);
    else if (key === 'c' && row) copyRow(row.node);
    else if (key === 'l' && row) this.tools.follow(row.node);
    else return false;
    return true;
  }

  static open(id) {
    openRun(id);
    touch('open');
  }
}
