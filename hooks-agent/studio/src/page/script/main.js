// The page: which view is shown, and what brings it up to date.

import { closeRun, on, start, state } from './state.js';
import { agentList, agentPage } from './agents.js';
import { Cards, RememberedList, decidedList, waitingText } from './approvals.js';
import { announce, fill, h, say } from './dom.js';
import { listenKeys, showHelp } from './keys.js';
import { RunPage } from './run.js';
import { RunList } from './runs.js';
import { beginTheme, nextTheme } from './theme.js';

const find = (id) => document.getElementById(id);
const [side, main, waiting] = [find('side'), find('main'), find('waiting')];
const runs = new RunList(side);
const run = new RunPage(main);
const cards = new Cards();
const remembered = new RememberedList();
const decided = h('section.recent', { 'aria-label': 'Decided' });
const waitingLink = h('a', { href: '#/approvals' });
const waitingHead = h('h2', {}, waitingLink);
let view = { name: '', id: '' };

function route() {
  const [name = '', id = ''] = location.hash.replace(/^#\/?/, '').split('/').map(decode);
  const next = { name: ['approvals', 'agents', 'run'].includes(name) ? name : 'runs', id };
  const isOther = next.name !== view.name || next.id !== view.id;
  view = next;
  if (isOther) show();
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function show() {
  document.body.dataset.view = view.name;
  document.body.classList.toggle('has-detail', view.name === 'run' || view.id !== '');
  const nav = { run: 'runs' }[view.name] ?? view.name;
  for (const link of document.querySelectorAll('[data-nav]')) {
    if (link.dataset.nav === nav) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (view.name === 'agents') agentList(side, view.id);
  else if (!runs.list.isConnected) runs.show();
  if (view.name !== 'run') closeRun();
  main.scrollTop = 0;
  if (view.name === 'run') {
    RunPage.open(view.id);
    run.show();
  } else if (view.name === 'agents') {
    showAgent();
  } else if (view.name === 'approvals') {
    fill(main, h('header.run-head', {}, h('h1', {}, 'Approvals')), decided, remembered.element);
    remembered.load();
  } else {
    blank();
  }
  drawApprovals();
  runs.mark();
}

function showAgent() {
  const asked = view;
  agentPage(main, view.id, () => view === asked);
}

function blank() {
  const text = state.error ? problem() : state.runs.size ? 'Choose a run to see what happens in it.'
    : 'Runs appear on the left as soon as an agent is called.';
  fill(main, h('div.blank', {}, h('p', {}, text),
    !state.error && h('p.muted', {}, h('kbd', {}, 'j'), ' and ', h('kbd', {}, 'k'), ' move, ',
      h('kbd', {}, '?'), ' shows all keys.')));
}

function problem() {
  return state.error.status === 401
    ? 'This page has no access. Open the address with the token, which the program printed.'
    : state.error.message;
}

function drawApprovals() {
  cards.draw();
  const size = state.waiting.size;
  const isPage = view.name === 'approvals';
  const home = isPage ? main : waiting;
  if (cards.element.parentElement !== home) {
    if (isPage) main.insertBefore(cards.element, decided);
    else fill(waiting, waitingHead, cards.element);
  }
  waiting.hidden = isPage || (!size && !cards.cards.size);
  say(waitingLink, size ? waitingText() : 'Approvals');
  if (isPage) {
    fill(decided, !size && h('p.missing', {}, 'Nothing waits. A tool call that asks for permission '
      + 'appears here, and on the right of every view.'), h('h2', {}, 'Decided'), decidedList());
  }
  const badge = find('waiting-count');
  say(badge, String(size));
  badge.hidden = !size;
  badge.setAttribute('aria-label', waitingText());
  document.title = `${size ? `(${size}) ` : ''}Studio`;
  find('icon').href = size ? '/assets/icon-waiting.svg' : '/assets/icon.svg';
}

const CONNECTION = { connecting: 'Connecting', live: 'Live', reconnecting: 'Reconnecting',
  resync: 'Loading again' };

function drawConnection() {
  const element = find('connection');
  element.dataset.state = state.connection;
  say(element, CONNECTION[state.connection]);
  if (state.error || view.name === 'runs') blankIfShown();
}

function blankIfShown() {
  if (view.name === 'runs') blank();
  else if (state.error) announce(problem());
}

let known = new Set();

function announceApprovals() {
  const fresh = [...state.waiting.values()].filter((it) => !known.has(it.id));
  known = new Set(state.waiting.keys());
  if (fresh.length) announce(`${fresh.map((it) => it.tool).join(', ')}: waits for a decision`);
}

let hadRuns = false;

on('runs', () => {
  runs.draw();
  const hasRuns = state.runs.size > 0;
  if (view.name === 'runs' && hasRuns !== hadRuns) blank();
  hadRuns = hasRuns;
});
on('open', () => run.draw());
on('connection', drawConnection);
on('approvals', () => {
  drawApprovals();
  if (view.name === 'approvals') remembered.load();
  run.drawDecisions();
  announceApprovals();
});
on('agents', () => {
  if (view.name === 'agents') show();
});

listenKeys({
  move(by, target) {
    const isInRun = main.contains(target) && view.name === 'run';
    if (isInRun) run.move(by);
    else if (view.name === 'runs' || view.name === 'run') runs.move(by);
    else return false;
    return true;
  },
  fold(row, isOpen) {
    run.toggle(row.dataset.key, isOpen);
    return true;
  },
  leave(target) {
    if (main.contains(target) && target !== main) {
      const link = side.querySelector('[aria-current]') ?? side.querySelector('a');
      link?.focus();
    } else if (view.name === 'run' || view.id) {
      location.hash = view.name === 'agents' ? '#/agents' : '#/';
    }
    return true;
  },
  approvals() {
    if (cards.element.offsetParent) {
      cards.focusFirst();
    } else {
      addEventListener('hashchange', () => cards.focusFirst(), { once: true });
      location.hash = '#/approvals';
    }
    return true;
  },
  filter() {
    if (!runs.text.isConnected) return false;
    runs.text.focus();
    return true;
  },
  theme() {
    nextTheme();
    return true;
  },
});

addEventListener('hashchange', () => {
  route();
  if (view.name === 'run') main.focus({ preventScroll: true });
});
find('help').addEventListener('click', showHelp);
find('theme').addEventListener('click', nextTheme);
setInterval(() => {
  const now = Date.now();
  runs.tick(now);
  cards.tick(now);
  run.tick();
}, 1000);

// What the address had besides the place served its purpose.
if (location.search) history.replaceState(null, '', `/${location.hash}`);
beginTheme();
route();
start();
