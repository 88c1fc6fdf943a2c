// A long list of rows of which only those near the window are in the document.
//
// Rows are grouped in blocks. A block that is far away is an empty element of the height that it had,
// or that is expected.

import { arrange, h } from './dom.js';

const BLOCK = 20;
const AT_ONCE = 2;
const NEAR = '900px 0px';

export class Windowed {
  /**
   * `render(row)` makes the element of a row, `update(element, row)` brings it up to date; `height`
   * is what a row is expected to need. Rows have a `key`.
   */
  constructor({ root, scroller, render, update, height = 30 }) {
    Object.assign(this, { root, render, update, height });
    this.rows = [];
    this.blocks = [];
    this.elements = new Map();
    this.observer = new IntersectionObserver((entries) => this.seen(entries), {
      root: scroller, rootMargin: NEAR,
    });
  }

  /** Shows these rows, and keeps the elements of those that were there. */
  set(rows) {
    this.rows = rows;
    const blocks = Math.ceil(rows.length / BLOCK);
    while (this.blocks.length > blocks) this.removeBlock(this.blocks.pop());
    for (let index = 0; index < blocks; index += 1) {
      const of = rows.slice(index * BLOCK, (index + 1) * BLOCK);
      this.setBlock(this.blocks[index] ?? this.addBlock(index), of);
    }
    this.sweep();
  }

  refresh(key) {
    const known = this.elements.get(key);
    if (known) this.update(known.element, known.row);
  }

  elementOf(key) {
    return this.elements.get(key)?.element ?? null;
  }

  /** Puts the row into the document, wherever it is, and returns its element. */
  reach(key) {
    const index = this.rows.findIndex((row) => row.key === key);
    if (index < 0) return null;
    const block = this.blocks[Math.floor(index / BLOCK)];
    if (!block.isNear) this.show(block);
    return this.elementOf(key);
  }

  clear() {
    this.set([]);
  }

  addBlock(index) {
    const element = h('div.block', { role: 'presentation' });
    const block = { element, rows: [], isNear: index === 0, expected: 0 };
    element.block = block;
    this.blocks.push(block);
    this.root.append(element);
    this.observer.observe(element);
    return block;
  }

  removeBlock(block) {
    this.observer.unobserve(block.element);
    block.element.remove();
  }

  setBlock(block, rows) {
    const before = block.rows;
    const isSame = rows.length === before.length && rows.every((row, at) => row === before[at]);
    if (isSame) return;
    block.rows = rows;
    if (block.isNear) this.draw(block);
    else this.reserve(block, rows.length * this.height);
  }

  draw(block) {
    arrange(block.element, block.rows.map((row) => {
      const known = this.elements.get(row.key)?.element;
      const element = known ?? this.render(row);
      this.elements.set(row.key, { element, row });
      if (known) this.update(element, row);
      return element;
    }));
  }

  seen(entries) {
    for (const { target, isIntersecting, boundingClientRect: { top, height } } of entries) {
      const { block } = target;
      Object.assign(block, { isWanted: isIntersecting, top });
      if (!isIntersecting && block.isNear && !target.contains(document.activeElement)) {
        block.isNear = false;
        this.reserve(block, height || block.expected);
        target.textContent = '';
      }
    }
    this.showWanted();
    this.sweep();
  }

  /** Draws the blocks near the window, those in it first, a few in a frame. */
  showWanted() {
    const away = ({ top }) => Math.abs(top - innerHeight / 3);
    const wanted = this.blocks.filter((it) => it.isWanted && !it.isNear)
      .sort((one, other) => away(one) - away(other));
    for (const block of wanted.slice(0, AT_ONCE)) this.show(block);
    if (wanted.length > AT_ONCE) requestAnimationFrame(() => this.showWanted());
  }

  show(block) {
    block.isNear = true;
    block.element.style.removeProperty('height');
    this.draw(block);
  }

  reserve(block, height) {
    block.expected = height;
    block.element.style.setProperty('height', `${height}px`);
  }

  sweep() {
    for (const [key, { element }] of this.elements) {
      if (!element.isConnected) this.elements.delete(key);
    }
  }
}
