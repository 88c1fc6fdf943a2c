// Elements, without HTML in strings: what comes from agents is text, never markup.

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

/** Replaces the children of an element. */
export function fill(element, ...children) {
  element.textContent = '';
  append(element, children);
  return element;
}

/** Sets the text, if it is another one. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const PATHS = {
  chevron: 'M6 4l4 4-4 4',
  user: 'M8 8a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5M3.500 13.500c.5-2.500 2.300-3.500 4.500-3.500s4 1 4.500 3.500',
  round: 'M13 8a5 5 0 1 1-1.500-3.500M13 2.500v3h-3',
  thinking: 'M5.500 11.500h5M6.500 13.500h3M8 2.500a4 4 0 0 0-2 7.500v1.500h4V10a4 4 0 0 0-2-7.500',
  text: 'M3 4h10M3 8h10M3 12h6',
  tool: 'M9.500 3.200a3.300 3.300 0 0 0-3.300 4.300l-3.700 3.700 1.800 1.800 3.700-3.700a3.300 3.300 0 0 0 4.200-4.200l-2 2-1.700-1.700z',
  hook: 'M7 2.500v6.500a2.500 2.500 0 0 0 5 0V7.500M10.300 9.200 12 7.200l1.700 2',
  run: 'M3.500 3v5.500a2 2 0 0 0 2 2H12M9.500 8l2.500 2.500L9.500 13',
  end: 'M3.500 8.500l3 3 6-7',
  error: 'M8 4.500v4M8 11.200v.2M8 1.800a6.200 6.200 0 1 0 0 12.400A6.200 6.200 0 0 0 8 1.800',
  asked: 'M6.200 6a1.900 1.900 0 1 1 2.600 1.800c-.6.300-.8.600-.8 1.300M8 11.300v.2M8 1.800a6.200 6.200 0 1 0 0 12.400A6.200 6.200 0 0 0 8 1.800',
  back: 'M10 4L6 8l4 4',
};

/** An icon of 16 by 16 pixels, hidden from screen readers. */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', `icon icon-${name}`);
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', PATHS[name] ?? PATHS.text);
  svg.append(path);
  return svg;
}

/** A button. */
export function button(label, onclick, classes = '') {
  return h(`button${classes}`, { type: 'button', onclick }, label);
}

/** Says something to screen readers. */
export function announce(text) {
  document.getElementById('announce').textContent = text;
}
