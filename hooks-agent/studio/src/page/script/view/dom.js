// Elements, without HTML in strings: what comes from agents is text, never markup.

import { shown } from './format.js';

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Makes an element: `h('div.row', { title, onclick, data: { key } }, child, 'text', ..)`. Properties
 * that are `null` or `undefined` are left out.
 */
export function h(name, properties, ...children) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag || 'div');
  if (classes.length) element.className = classes.join(' ');
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined) continue;
    if (key === 'data') Object.assign(element.dataset, value);
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key in element && key !== 'list') element[key] = value;
    else element.setAttribute(key, value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    element.append(child);
  }
}

export function fill(element, ...children) {
  element.textContent = '';
  append(element, children);
  return element;
}

/**
 * Makes what is in an element the same as what is in another one, and keeps the elements that are
 * there: who has the focus, a selection or a scrolled table keeps it.
 */
export function morph(element, fresh) {
  for (const { name, value } of fresh.attributes) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
  for (const { name } of [...element.attributes]) {
    // What has the focus keeps it.
    const isFocus = name === 'tabindex' && element === document.activeElement;
    if (!fresh.hasAttribute(name) && !isFocus) element.removeAttribute(name);
  }
  const known = new Map([...element.children].map((it) => [it.dataset?.key, it]));
  let at = element.firstChild;
  for (const child of [...fresh.childNodes]) {
    const same = known.get(child.dataset?.key ?? null) ?? at;
    if (same?.nodeName !== child.nodeName || same.dataset?.key !== child.dataset?.key) {
      element.insertBefore(child, at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else element.insertBefore(same, at);
    if (child.nodeType === Node.ELEMENT_NODE) morph(same, child);
    else if (same.data !== child.data) same.data = child.data;
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

/** Puts these elements into another one, in order; those that are in their place keep the focus. */
export function arrange(element, children) {
  const kept = new Set(children);
  for (const it of [...element.children]) if (!kept.has(it)) it.remove();
  let at = element.firstChild;
  for (const child of children) {
    if (child === at) at = at.nextSibling;
    else element.insertBefore(child, at);
  }
}

export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const PATHS = {
  chevron: 'M6 4l4 4-4 4',
  user: 'M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M3.5 13.5c.5-2.5 2.3-3.5 4.5-3.5s4 1 4.5 3.5',
  round: 'M13 8a5 5 0 1 1-1.5-3.5M13 2.5v3h-3',
  thinking: 'M5.5 11.5h5M6.5 13.5h3M8 2.5a4 4 0 0 0-2 7.5v1.5h4V10a4 4 0 0 0-2-7.5',
  text: 'M3 4h10M3 8h10M3 12h6',
  tool: 'M9.5 3.2a3.3 3.3 0 0 0-3.3 4.3l-3.7 3.7 1.8 1.8 3.7-3.7a3.3 3.3 0 0 0 4.2-4.2l-2 2-1.7-1.7z',
  hook: 'M7 2.5v6.5a2.5 2.5 0 0 0 5 0V7.5M10.3 9.2 12 7.2l1.7 2',
  run: 'M3.5 3v5.5a2 2 0 0 0 2 2H12M9.5 8l2.5 2.5L9.5 13',
  end: 'M3.5 8.5l3 3 6-7',
  error: 'M8 4.5v4M8 11.2v.2M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8',
  asked: 'M6.2 6a1.9 1.9 0 1 1 2.6 1.8c-.6.3-.8.6-.8 1.3M8 11.3v.2M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8',
  next: 'M3 8h9M8.5 4.5 12 8l-3.5 3.5',
  call: 'M3 4.5h10v6H8L5.5 13v-2.5H3z',
  back: 'M10 4L6 8l4 4',
};

export function draw(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  append(element, children);
  return element;
}

export function icon(name) {
  return draw('svg', { viewBox: '0 0 16 16', class: `icon icon-${name}`, 'aria-hidden': 'true' },
    draw('path', { d: PATHS[name] ?? PATHS.text }));
}

export function button(label, onclick, classes = '') {
  return h(`button${classes}`, { type: 'button', onclick }, label);
}

/** A link to a list that is not beside what is shown. */
export const backLink = (href, name) =>
  h('a.back', { href, ariaLabel: `Back to the ${name.toLowerCase()}` }, icon('back'), name);

export const fact = (name, ...value) => h('div.fact', {}, h('dt', {}, name), h('dd', {}, value));

/** Moves the focus by so many elements of this kind, from the one that has it or from the current one. */
export function moveAmong(parent, selector, by) {
  const elements = [...parent.querySelectorAll(selector)];
  const focused = elements.findIndex((it) => it.contains(document.activeElement));
  const from = focused < 0 ? elements.findIndex((it) => it.ariaCurrent) : focused;
  const next = elements[from < 0 ? 0 : Math.min(elements.length - 1, Math.max(0, from + by))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
  return true;
}

/** A button that is off while it acts, and stays so if that returns true; `failed(error)` is told if it cannot. */
export function action(label, act, kind, failed = (error) => announce(shown(error.message))) {
  const made = button(label, async () => {
    const hadFocus = document.activeElement === made;
    made.disabled = true;
    made.disabled = await act(made).catch(failed) === true;
    // A button that is off has no focus.
    if (hadFocus && document.activeElement === document.body && made.checkVisibility()) made.focus();
  }, kind);
  return made;
}

/** A field for a text of a person, which no browser corrects or completes. */
export const field = (label, properties) => h('input', { type: 'search', placeholder: label, ariaLabel: label,
  autocomplete: 'off', spellcheck: false, ...properties });

/** The heading of a list: on a phone it is a view of its own, and its heading that of the page. */
export const listHeading = (text) => [h('h1.unseen.of-list', {}, text), h('h2.unseen.of-side', {}, text)];

let told = [];

/** Says something to screen readers; what comes at once is said together. */
export function announce(text) {
  told.push(text);
  if (told.length > 1) return;
  setTimeout(() => {
    document.getElementById('announce').textContent = told.join('. ');
    told = [];
  }, 50);
}
