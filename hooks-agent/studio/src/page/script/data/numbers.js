// Numbers of the runs since some time, while a view shows them.

import { api } from './api.js';
import { chosen } from './place.js';
import { state, touch } from './state.js';

const PAUSE = 2000;
/** How many times as long as the last answer took is waited before the next one. */
const REST = 4;
const HOUR = 3_600_000;
/** The times to choose from, by what the address calls them: their names, and how long they are. */
const RANGES = { hour: ['Hour', HOUR], day: ['Day', 24 * HOUR], week: ['Week', 168 * HOUR] };
const OF_HISTORY = { '30-days': ['30 days', 720 * HOUR], '90-days': ['90 days', 2160 * HOUR] };

/** The last answer, the time that it is of, and why there is none. */
export const numbers = { value: null, range: '', error: null };

const all = () => (state.hasHistory ? { ...RANGES, ...OF_HISTORY } : RANGES);
/** The times that can be chosen, `[key, name]`, and the one that is. */
export const ranges = () => Object.entries(all()).map(([key, [name]]) => [key, name]);
export const rangeOf = () => (Object.hasOwn(all(), chosen.since) ? chosen.since : 'day');

let timer = 0;
let isLoading = false;
let isStale = false;
let next = 0;

/** Loads them soon: at once if another time is chosen, and never for a tab that nobody sees. */
export function wantNumbers() {
  isStale = isLoading;
  // Which times there are is known once the agents are.
  if (document.hidden || isLoading || !state.hasLoaded) return;
  clearTimeout(timer);
  const wait = numbers.range === rangeOf() ? next - Date.now() : 0;
  timer = setTimeout(load, Math.max(0, wait));
}

async function load() {
  if (document.hidden) return;
  isLoading = true;
  const [range, begin] = [rangeOf(), Date.now()];
  try {
    numbers.value = await api.overview(begin - all()[range][1]);
    numbers.error = null;
  } catch (error) {
    numbers.error = error;
  }
  numbers.range = range;
  isLoading = false;
  next = Date.now() + Math.max(PAUSE, REST * (Date.now() - begin));
  touch('numbers');
  if (isStale) wantNumbers();
}

/** What plans of agents warn of: each text with the agents that have it. */
export let warnings = [];

export async function loadWarnings(agents) {
  const plans = await Promise.allSettled(agents.map(({ name }) => api.plan(name)));
  const found = new Map();
  for (const { value } of plans) {
    for (const text of value?.warnings ?? []) {
      found.set(text, [...found.get(text) ?? [], value.agent]);
    }
  }
  warnings = [...found].map(([text, names]) => ({ text, names }));
  touch('warnings');
}
