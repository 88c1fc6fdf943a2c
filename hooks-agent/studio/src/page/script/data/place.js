// The address: which view it names, and what a person chose in it.

/** What a person chose: filters of the runs, since when numbers count, and how hooks are shown. */
export const chosen = { q: '', agent: '', state: '', user: '', thread: '', since: '', name: '', sort: '' };

const FILTERS = ['q', 'agent', 'state', 'user', 'thread'];

/** The filters of runs that are set. */
export const filters = () => Object.fromEntries(FILTERS.map((key) => [key, chosen[key]])
  .filter(([, it]) => it));

const KEPT = {
  runs: [...FILTERS, 'since'], overview: [...FILTERS, 'since'], run: FILTERS, approvals: FILTERS,
  hooks: ['since', 'name', 'sort'], agents: [], threads: FILTERS, compare: FILTERS,
};

function split(hash) {
  const [path, query] = hash.split(/\?(.*)/s);
  return [path, new URLSearchParams(query)];
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Reads the address: the name of a view, the id of what is in it and of what is beside that, and the rest. */
export function readPlace() {
  const [path, query] = split(location.hash);
  const [name = '', id = '', more = ''] = path.replace(/^#\/?/, '').split('/').map(decode);
  return { name: Object.hasOwn(KEPT, name) ? name : 'runs', id, more, query };
}

/** The first run of a comparison whose second is to be chosen from the list. */
export function picksFor() {
  const { name, id, more } = readPlace();
  return name === 'compare' && !more ? id : '';
}

/** Takes the choices of the address. A link without any to another view or run leaves them. */
export function takeChoices({ name, id, query }, before) {
  const kept = KEPT[name];
  const isElsewhere = before && (name !== before || id);
  if (isElsewhere && !kept.some((key) => query.has(key))) return;
  for (const key of kept) chosen[key] = query.get(key) ?? '';
}

/** An address with these choices; those that are empty are left out. */
export function addressOf(path, choices) {
  const query = new URLSearchParams(Object.entries(choices).filter(([, it]) => it));
  return query.size ? `#${path}?${query}` : `#${path}`;
}

/** The address of a run, or of one of its entries. */
export const runLink = (run, seq) => `#/run/${encodeURIComponent(run)}${seq === undefined ? '' : `?at=${seq}`}`;

/** The address of a thread, or of what is chosen in it: a run, or what is shown. */
export const threadLink = (agent, thread, choices = {}) =>
  addressOf(`/threads/${encodeURIComponent(agent)}/${encodeURIComponent(thread)}`, choices);

/** The address of the comparison of two runs, or of the choice of the second. */
export const compareLink = (...runs) => `#/compare/${runs.map(encodeURIComponent).join('/')}`;

export const agentLink = (name) => `#/agents/${encodeURIComponent(name)}`;

/** Writes the choices into the address of the view, and whatever else it is to have. */
export function writePlace(more = {}) {
  const [path, query] = split(location.hash);
  const own = KEPT[readPlace().name].map((key) => [key, chosen[key]]);
  for (const [key, value] of [...own, ...Object.entries(more)]) {
    if (value) query.set(key, value);
    else query.delete(key);
  }
  const address = addressOf((path || '#/').slice(1), Object.fromEntries(query));
  if (address !== (location.hash || '#/')) history.replaceState(null, '', address);
}

export function settled(call, ms = 300) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, ms);
  };
}
