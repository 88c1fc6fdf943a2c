// The time of a run beside its tree: a ruler, the part that is shown, and the width of the column.

import { button, fill, h, say } from './dom.js';
import { duration } from './format.js';
import { timeOf } from './spans.js';

const WIDTH = 'studio-time-width';
const HIDDEN = 'studio-time-hidden';
const [LEAST, MOST, USUAL] = [20, 75, 44];
/** Below this many pixels the tree and the time do not fit beside each other. */
const NARROW = 640;
const EDGE = 16;
const LEGEND = [['model', 'call'], ['tool', 'tool'], ['people', 'wait'], ['failed', 'bar is-failed']];
const SHORTEST = 4;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5,
  18e5, 36e5, 72e5, 216e5, 864e5];

export class Timeline {
  /** `changed()` is called when rows are to be drawn anew, `moved()` when only their bars are. */
  constructor(tree, { changed, moved }) {
    Object.assign(this, { tree, changed, moved, part: null, isTime: false, mode: '' });
    this.width = Number(localStorage.getItem(WIDTH)) || USUAL;
    this.isHidden = localStorage.getItem(HIDDEN) === 'yes';
    this.range = h('span.range');
    this.scale = h('div.scale', { 'aria-hidden': 'true' });
    this.out = this.zoomButton('−', 'Zoom out (-)', () => this.zoom(2));
    this.whole = this.zoomButton('All', 'All of the time (0)', () => this.showAll());
    const legend = h('span.legend', { 'aria-hidden': 'true' }, LEGEND.map(([name, kind]) =>
      h('span', {}, h(`i.b-${kind}`), name)));
    this.ruler = h('div.ruler', {}, legend, h('div.ruler-tools', {}, this.range, this.out,
      this.zoomButton('+', 'Zoom in (+)', () => this.zoom(0.5)), this.whole), this.scale);
    this.pick = h('i.pick', { hidden: true });
    this.lines = h('div.lines', { 'aria-hidden': 'true' }, this.pick);
    this.splitter = h('div.splitter', { role: 'separator', tabIndex: 0, 'aria-orientation': 'vertical',
      ariaLabel: 'Width of the time column', 'aria-valuemin': LEAST, 'aria-valuemax': MOST });
    this.element = h('div.timeline', {}, this.ruler, this.lines, tree, this.splitter);
    this.beside = button('Time', () => this.hide(!this.isHidden), '.quiet');
    this.both = ['Tree', 'Time'].map((name) => button(name, () => this.choose(name === 'Time'), '.quiet'));
    this.control = h('span.modes', { role: 'group', ariaLabel: 'What is shown' });
    new ResizeObserver(() => this.fit()).observe(this.element);
    this.listenSplitter();
    this.listenPick();
  }

  zoomButton(label, title, onclick) {
    return h('button.quiet', { type: 'button', title, ariaLabel: title, onclick }, label);
  }

  hide(isHidden) {
    this.isHidden = isHidden;
    localStorage.setItem(HIDDEN, isHidden ? 'yes' : 'no');
    this.fit();
  }

  choose(isTime) {
    this.isTime = isTime;
    this.fit();
  }

  fit() {
    const all = this.element.clientWidth;
    if (!all) return;
    const isNarrow = all < NARROW;
    const mode = isNarrow ? (this.isTime ? 'time' : 'tree') : this.isHidden ? 'tree' : 'beside';
    this.pixels = Math.round((all - 2 * EDGE) * (isNarrow ? 46 : this.width) / 100);
    this.element.style.setProperty('--time', `${this.pixels}px`);
    this.splitter.ariaValueNow = Math.round(this.width);
    this.beside.ariaPressed = !this.isHidden;
    this.both.forEach((it, at) => it.ariaPressed = this.isTime === (at === 1));
    if (this.isNarrow !== isNarrow) {
      this.isNarrow = isNarrow;
      fill(this.control, isNarrow ? this.both : this.beside);
    }
    if (this.mode !== mode) {
      this.mode = mode;
      this.element.dataset.mode = mode;
      this.changed();
    } else {
      this.moved();
    }
  }

  /** Takes the time of a run as it is now; true if another part is shown than before. */
  take(tree, now) {
    this.time = timeOf(tree, now);
    const { from, first } = this.time;
    const [begin, end] = this.part ?? [from, first];
    const shape = [from, begin, end, this.pixels].join();
    if (shape === this.shape) return false;
    this.shape = shape;
    this.window = { from: begin, to: end };
    this.drawRuler();
    return true;
  }

  drawRuler() {
    const { window: { from, to }, time, pixels } = this;
    const perMs = pixels / (to - from);
    const step = STEPS.find((it) => it * perMs >= 62) ?? STEPS.at(-1);
    const marks = [];
    for (let at = Math.ceil((from - time.from) / step) * step; at <= to - time.from; at += step) {
      const x = (at + time.from - from) * perMs;
      // The last one has no place for its text.
      const mark = h('span', {}, x > pixels - 40 ? '' : markOf(at, step));
      mark.style.left = `${x}px`;
      marks.push(mark);
    }
    fill(this.scale, marks);
    const offset = ((time.from - from) * perMs) % (step * perMs);
    this.lines.style.setProperty('--step', `${step * perMs}px`);
    this.lines.style.setProperty('--offset', `${offset}px`);
    const isAll = from <= time.from && to >= time.until;
    const [begin, end, all] = [from, to, time.until].map((it) => duration(it - time.from));
    say(this.range, this.part || !isAll ? `${begin} to ${end} of ${all}` : '');
    this.out.disabled = isAll;
    this.whole.disabled = isAll && !this.part;
  }

  show(part) {
    this.part = part;
    this.moved();
  }

  /** Shows the run; once more, also how long it waited. */
  showAll() {
    const { from, until } = this.time;
    const isShort = !this.part && this.window.to < until;
    this.show(isShort ? [from, until] : null);
  }

  /** Shows half or twice as much of the time around this one. */
  zoom(factor, around) {
    if (!this.window) return;
    const { from, to } = this.window;
    const { from: least, until } = this.time;
    const long = Math.min(until - least, Math.max(SHORTEST, (to - from) * factor));
    const middle = around ?? (from + to) / 2;
    const begin = Math.min(Math.max(least, middle - long / 2), until - long);
    this.show(long >= until - least && this.time.first === until ? null : [begin, begin + long]);
  }

  setWidth(width) {
    this.width = Math.min(MOST, Math.max(LEAST, width));
    localStorage.setItem(WIDTH, this.width.toFixed(1));
    this.fit();
  }

  listenSplitter() {
    const { splitter, element } = this;
    splitter.addEventListener('keydown', ({ key }) => {
      const by = { ArrowLeft: 2, ArrowRight: -2 }[key];
      if (by) this.setWidth(this.width + by);
    });
    splitter.addEventListener('dblclick', () => this.setWidth(USUAL));
    drag(splitter, (x) => {
      const { right, width } = element.getBoundingClientRect();
      this.setWidth((right - EDGE - x) / (width - 2 * EDGE) * 100);
    });
  }

  /** A drag over the bars or the ruler chooses a part of the time. */
  listenPick() {
    const { element, pick, scale } = this;
    let begin = null;
    const place = (x) => {
      const { left, width } = scale.getBoundingClientRect();
      return Math.min(1, Math.max(0, (x - left) / width));
    };
    drag(element, (x) => {
      const [one, other] = [begin, place(x)].sort((a, b) => a - b);
      Object.assign(pick.style, { left: `${one * 100}%`, width: `${(other - one) * 100}%` });
      pick.hidden = false;
      this.lines.classList.add('is-picking');
    }, {
      starts: ({ target, clientX }) => {
        begin = target.closest('.bar, .scale') ? place(clientX) : null;
        return begin !== null;
      },
      ends: (x) => {
        if (pick.hidden) return;
        pick.hidden = true;
        this.lines.classList.remove('is-picking');
        const { from, to } = this.window;
        const [one, other] = [begin, place(x)].sort((a, b) => a - b)
          .map((it) => from + it * (to - from));
        if (other - one >= SHORTEST / 2) this.show([one, other]);
      },
    });
    scale.addEventListener('dblclick', () => this.showAll());
  }
}

/** Follows a pointer from where it is pressed: `moves(x)` once it has moved a little, `ends(x)`. */
function drag(element, moves, { starts = () => true, ends = () => {} } = {}) {
  element.addEventListener('pointerdown', (event) => {
    if (event.button || !starts(event)) return;
    const from = event.clientX;
    let isMoving = false;
    const move = ({ clientX: x }) => {
      isMoving ||= Math.abs(x - from) > 4;
      if (isMoving) moves(x);
    };
    const end = ({ type, clientX }) => {
      removeEventListener('pointermove', move);
      for (const it of ['pointerup', 'pointercancel']) removeEventListener(it, end);
      ends(type === 'pointerup' ? clientX : from);
    };
    addEventListener('pointermove', move);
    for (const it of ['pointerup', 'pointercancel']) addEventListener(it, end);
  });
}

function markOf(ms, step) {
  if (!ms) return '0';
  if (ms < 60_000) return step < 1000 && ms < 1000 ? `${ms} ms` : `${Number((ms / 1000).toFixed(3))} s`;
  const [minutes, seconds] = [Math.floor(ms / 60_000), (ms % 60_000) / 1000];
  const rest = String(Number(seconds.toFixed(3))).padStart(2, '0');
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest}`;
}
