// The page: which view is shown, and what brings it up to date.

import { loadWarnings, wantNumbers, warnings } from './numbers.js';
import { picksFor, readPlace, takeChoices, writePlace } from './place.js';
import { closeRun, on, sees, start, state } from './state.js';
import { agentList, agentPage } from './agents.js';
import { Cards, RememberedList, decidedList, waitingText } from './approvals.js';
import { Comparison } from './comparison.js';
import { announce, fill, h, moveAmong, say } from './dom.js';
import { count, shown } from './format.js';
import { HooksPage } from './hooks.js';
import { KeptRows } from './kept_rows.js';
import { listenKeys, showHelp } from './keys.js';
import { Overview, whyNone } from './overview.js';
import { RunPage } from './run.js';
import { RunList } from './runs.js';
import { beginTheme, nextTheme } from './theme.js';
import { ThreadPage } from './thread.js';
import { ThreadList } from './threads.js';

const find = (id) => document.getElementById(id);
const [side, main, waiting] = [find('side'), find('main'), find('waiting')];
const runs = new RunList(side);
const run = new RunPage(main);
const cards = new Cards();
const remembered = new RememberedList();
const nothing = h('p.missing', {}, 'Nothing waits. A tool call that asks for permission appears here, '
  + 'and beside every other view.');
const asked = h('section.recent', { ariaLabel: 'Waiting' }, h('h2', {}, 'Waiting'), nothing);
const decided = h('section.recent', { ariaLabel: 'Decided' });
const waitingLink = h('a', { href: '#/approvals' });
waiting.append(h('h2', {}, waitingLink));
const overview = new Overview(main);
const hooks = new HooksPage(main);
const keptRows = new KeptRows(main, run);
const threads = new ThreadList(side);
const thread = new ThreadPage(main);
const comparison = new Comparison(main);
const OF_NUMBERS = new Set(['runs', 'overview', 'hooks']);
/** The views that have a list, and the list. */
const LISTS = { runs, overview: runs, run: runs, approvals: runs, compare: runs, threads };
let view = { name: '', id: '', more: '' };

function route() {
  const before = view;
  view = readPlace();
  takeChoices(view, before.name);
  const at = view.query.get('at');
  if (['name', 'id', 'more'].some((it) => view[it] !== before[it])) show();
  else if (at && view.name === 'run') run.goTo(at);
  else if (view.name === 'threads') thread.turn(view.query);
  writePlace();
  LISTS[view.name]?.take();
  drawNumbers();
  if (isOfNumbers()) wantNumbers();
}

// On a phone the list is alone, and nobody sees numbers beside it.
const phone = matchMedia('(max-width: 760px)');
const isOfNumbers = () => OF_NUMBERS.has(view.name) && !(phone.matches && view.name === 'runs');

function drawNumbers() {
  overview.draw();
  hooks.draw();
}

function show() {
  document.body.dataset.view = view.name;
  document.body.classList.toggle('has-detail', ['run', 'overview', 'hooks'].includes(view.name)
    || (view.id !== '' && !picksFor()));
  // Where the overview is beside the list, it is not named.
  const isRuns = ['run', 'compare'].includes(view.name) || (view.name === 'overview' && !phone.matches);
  const nav = isRuns ? 'runs' : view.name;
  for (const link of document.querySelectorAll('[data-nav]')) {
    link.ariaCurrent = link.dataset.nav === nav ? 'page' : null;
  }
  markMain();
  if (view.name === 'agents') agentList(side, view.id);
  else if (!(LISTS[view.name] ?? runs).list.isConnected) (LISTS[view.name] ?? runs).show();
  if (view.name !== 'run') closeRun();
  main.scrollTop = 0;
  if (view.name === 'run') {
    RunPage.open(view.id);
    keptRows.take(view.query);
    run.show(view.query.get('at'));
  } else if (view.name === 'agents') {
    const shown = view;
    agentPage(main, view.id, () => view === shown);
  } else if (view.name === 'approvals') {
    fill(main, h('header.run-head', {}, h('h1', {}, 'Approvals')), asked, decided, remembered.element);
    remembered.load();
  } else if (view.name === 'hooks') {
    hooks.show();
  } else if (view.name === 'threads') {
    thread.show(view);
  } else if (view.name === 'compare') {
    comparison.show(view.id, view.more);
  } else {
    overview.show();
  }
  drawApprovals();
  (LISTS[view.name] ?? runs).mark();
}

/** On a phone the list may be all that is there. */
function markMain() {
  const isAlone = !main.offsetParent;
  side.role = isAlone ? 'main' : 'complementary';
  find('skip').hash = isAlone ? 'side' : 'main';
}

function drawApprovals() {
  const size = state.waiting.size;
  const isPage = view.name === 'approvals';
  cards.draw(isPage);
  const home = isPage ? asked : waiting;
  if (cards.element.parentElement !== home) home.append(cards.element);
  nothing.hidden = cards.cards.size > 0;
  waiting.hidden = isPage || (!size && !cards.cards.size);
  say(waitingLink, size ? waitingText() : 'Approvals');
  if (isPage) fill(decided, h('h2', {}, 'Decided'), decidedList());
  drawBadge('waiting-count', size, waitingText());
  document.title = `${size ? `(${size}) ` : ''}Studio`;
  find('icon').href = size ? '/assets/icon-waiting.svg' : '/assets/icon.svg';
}

const CONNECTION = { connecting: 'Connecting', live: 'Live', reconnecting: 'Reconnecting',
  resync: 'Loading again' };

function drawConnection() {
  const element = find('connection');
  element.dataset.state = state.connection;
  say(element, CONNECTION[state.connection]);
  overview.draw();
  if (state.error && !overview.element.isConnected) announce(whyNone(state.error));
}

let known = new Set();

function announceApprovals() {
  const fresh = [...state.waiting.values()].filter((it) => !known.has(it.id));
  known = new Set(state.waiting.keys());
  if (fresh.length) {
    announce(`${fresh.map((it) => it.tool).join(', ')}: waits for a decision. ${waitingText()}`);
  }
}

function drawWarnings() {
  const text = `${count(warnings.length, 'warning')} of plans of agents`;
  if (warnings.length && find('warning-count').ariaLabel !== text) announce(text);
  drawBadge('warning-count', warnings.length, text);
  hooks.draw();
}

/** Says that this person may look only, and names the views that are for them. */
function drawViewer() {
  const { acts, user } = state.viewer;
  find('viewer').hidden = acts;
  say(find('viewer'), `${shown(user ?? 'You')} may look only`);
  for (const link of document.querySelectorAll('[data-nav]')) link.hidden = !sees(link.dataset.nav);
}

function drawBadge(id, size, text) {
  const badge = find(id);
  say(badge, String(size));
  Object.assign(badge, { hidden: !size, ariaLabel: text });
}

let hadRuns = null;

on('runs', () => {
  LISTS[view.name]?.draw();
  thread.draw();
  const hasRuns = state.hasLoaded && state.runs.size > 0;
  if (hasRuns !== hadRuns) overview.draw();
  hadRuns = hasRuns;
  if (isOfNumbers()) wantNumbers();
});
on('numbers', drawNumbers);
on('warnings', drawWarnings);
on('open', () => {
  run.draw();
  keptRows.draw();
  if (state.waiting.size) cards.draw();
});
on('connection', drawConnection);
on('approvals', () => {
  drawApprovals();
  if (view.name === 'approvals') remembered.load();
  run.drawDecisions();
  thread.drawDecisions();
  announceApprovals();
});
on('agents', () => {
  drawNumbers();
  if (view.name === 'agents') show();
  loadWarnings(state.agents);
  LISTS[view.name]?.take();
  thread.draw();
  drawViewer();
});

listenKeys({
  move(by, target) {
    const isInMain = main.contains(target);
    if (isInMain && view.name === 'run') run.move(by);
    else if (isInMain && view.more && view.name === 'threads') moveAmong(main, '.piece', by);
    else if ((isInMain && OF_NUMBERS.has(view.name)) || !LISTS[view.name]) return false;
    else LISTS[view.name].move(by);
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
      location.hash = ['agents', 'threads'].includes(view.name) ? `#/${view.name}` : '#/';
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
    const field = [hooks.name, threads.text, runs.text].find((it) => it.offsetParent);
    field?.focus();
    return Boolean(field);
  },
  other(key, target) {
    return (view.name === 'run' && run.press(key, target.closest?.('.row')))
      || (view.name === 'compare' && ['x', 'X'].includes(key)
        && moveAmong(main, '.difference', key === 'x' ? 1 : -1));
  },
  theme() {
    nextTheme();
    return true;
  },
});

addEventListener('hashchange', () => {
  route();
  // What had the focus may be in nobody's sight.
  const { activeElement: focused } = document;
  const isDetail = ['run', 'compare'].includes(view.name) || view.more !== '';
  const isLost = !focused?.offsetParent || (isDetail && !main.contains(focused));
  if (isLost) (main.offsetParent ? main : side).focus({ preventScroll: true });
});
for (const [what, kind] of [[document, 'visibilitychange'], [phone, 'change']]) {
  what.addEventListener(kind, () => isOfNumbers() && wantNumbers());
}
phone.addEventListener('change', markMain);
find('skip').addEventListener('click', (event) => {
  event.preventDefault();
  (main.offsetParent ? main : side).focus();
});
// What is cut off is told in full by its title.
addEventListener('pointerover', ({ target }) => {
  const isOwn = target.dataset && (!target.title || target.dataset.cut);
  if (!isOwn || getComputedStyle(target).textOverflow !== 'ellipsis') return;
  const isCut = target.scrollWidth > target.clientWidth;
  target.title = isCut ? target.textContent : '';
  target.dataset.cut = 'yes';
});
find('help').addEventListener('click', showHelp);
find('theme').addEventListener('click', nextTheme);
setInterval(() => {
  const now = Date.now();
  LISTS[view.name]?.tick(now);
  cards.tick(now);
  run.tick();
}, 1000);

// What the address had besides the place served its purpose.
if (location.search) history.replaceState(null, '', `/${location.hash}`);
beginTheme();
route();
start();
