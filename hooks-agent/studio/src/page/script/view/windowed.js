// A long list of rows of which only those near the window are in the document.
//
// Rows are grouped in blocks. A block that is far away is an empty element of the height that it had,
// or that is expected.

import { h } from './dom.js';

const BLOCK = 40;
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

  /** Brings a row up to date, if it is in the document. */
  refresh(key) {
    const known = this.elements.get(key);
    if (known) this.update(known.element, known.row);
  }

  /** Returns the element of a row, or `null` if the row is not in the document. */
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

  /** Makes the children of a block those of its rows. */
  draw(block) {
    const { element } = block;
    let at = element.firstChild;
    for (const row of block.rows) {
      const known = this.elements.get(row.key);
      const child = known?.element ?? this.render(row);
      this.elements.set(row.key, { element: child, row, block });
      if (known) this.update(child, row);
      if (child === at) at = at.nextSibling;
      else element.insertBefore(child, at);
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  seen(entries) {
    for (const { target, isIntersecting, boundingClientRect: { height } } of entries) {
      const { block } = target;
      if (isIntersecting && !block.isNear) this.show(block);
      else if (!isIntersecting && block.isNear && !target.contains(document.activeElement)) {
        block.isNear = false;
        this.reserve(block, height || block.expected);
        target.textContent = '';
      }
    }
    this.sweep();
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

  /** Forgets the elements that are no longer in the document. */
  sweep() {
    for (const [key, { element }] of this.elements) {
      if (!element.isConnected) this.elements.delete(key);
    }
  }
}
