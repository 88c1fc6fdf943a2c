// What two runs have in common, and where they differ, in the order in which it happened.

import { align } from './diff.js';
import { failureOf, outputOf } from './entry.js';

/** What stands in place of an argument that the tool alone receives. */
const HIDDEN = '"[hidden]"';

/**
 * The parts of two runs, as trees: each has a `title`, the names of what is the `same`, of what differs
 * `again` as in an earlier part, and of what is `hidden` in either, and what `differs`: a name and two
 * texts. `alone` is the place of the run that has this part alone.
 */
export function compare(trees) {
  const parts = [];
  parts.known = new Set();
  compareRuns(parts, trees, '');
  return parts;
}

/** Compares facts: a name, and a text, which is null if it is hidden. */
function add(parts, title, pair, factsOf) {
  const part = { title, same: [], again: [], hidden: [], differs: [], alone: [1, 0][pair.indexOf(null)] };
  const [one, other] = pair.map((it) => new Map(it && factsOf(it)));
  for (const what of new Set([...one.keys(), ...other.keys()])) {
    const found = [one, other].map((it) => it.get(what));
    const texts = found.map((it) => String(it ?? ''));
    if (found.includes(null)) part.hidden.push({ what, of: found.map((it) => it === null) });
    else if (texts[0] !== texts[1]) part[isNew(parts, [what, texts]) ? 'differs' : 'again'].push({ what, texts });
    else if (texts[0]) part.same.push(what);
  }
  parts.push(part);
}

function isNew({ known }, difference) {
  const { size } = known;
  return known.add(JSON.stringify(difference)).size > size;
}

const of = (node, kind) => node?.children.filter((it) => it.kind === kind) ?? [];

function compareRuns(parts, trees, path) {
  add(parts, `${path}Input`, trees, (tree) => [
    ['input', joined(of(tree, 'input').flatMap((it) => it.messages).map(wordsOf))],
    ...hooksOf(parted(tree)[0])]);
  for (const rounds of align(...trees.map((it) => of(it, 'round')), [wholeRound, shapeOf, () => ''])) {
    compareRounds(parts, rounds, path);
  }
  compareSubAgents(parts, trees, path);
  add(parts, `${path}End`, trees, (tree) => [
    ['reply', tree.isHidden ? null : of(tree, 'reply')[0]?.text], ...hooksOf(parted(tree)[1]),
    ['state', tree.summary?.state], ['reason', tree.reason], ['failure', tree.failure && causeOf(tree.failure)]]);
}

/** What is before the first round, and the rest. */
function parted({ children }) {
  const at = children.findIndex((it) => it.kind === 'round');
  return at < 0 ? [children, []] : [children.slice(0, at), children.slice(at)];
}

const joined = (texts) => (texts.includes(null) ? null : texts.filter(Boolean).join('\n'));
const causeOf = (failure) => `${failureOf(failure)}\n${failure.text ?? ''}`.trim();

function wordsOf({ hidden, role, content = [] }) {
  if (hidden) return null;
  const text = content.map(blockOf).join('\n');
  return role === 'user' ? text : `${role}: ${text}`;
}

function blockOf(block) {
  if (block.type === 'tool_result') return resultOf(block);
  return block.type === 'text' ? block.text : JSON.stringify(block);
}

const resultOf = ({ hidden, output }) => (hidden ? null
  : [outputOf(output).text, ...(output?.blocks ?? []).map(blockOf)].join('\n'));

const shapeOf = (round) => of(round, 'tool').map((it) => it.name).join();
const callOf = (tool) => `${tool.name} ${argumentsOf(tool)}`;
const wholeRound = (round) => JSON.stringify([of(round, 'tool').map(callOf), answerOf(round)]);

function answerOf(round) {
  const texts = of(round, 'text');
  return round.isHidden || texts.some((it) => it.hidden) ? null : joined(texts.map((it) => it.text));
}

const numberOf = (round) => round && (round.isResumed ? 'Resumed' : `${round.label ?? 'Round'} ${round.number}`);

function compareRounds(parts, rounds, path) {
  const title = path + [...new Set(rounds.map(numberOf))].filter(Boolean).join(' and ');
  add(parts, title, rounds, ({ request, attempts, ...round }) => {
    const { hidden, model, messages, tools, system, system_chars: chars } = request ?? {};
    return [['model', hidden && model === undefined ? null : model], ['number of messages', messages],
      ['tools', tools?.join('\n')], ['system', hidden && chars !== 0 ? null : system],
      ['failed attempts', attempts.filter((it) => it.failure)
        .map((it) => failureOf({ ...it.failure, model: it.model })).join('\n')],
      ['answer', answerOf(round)], ...hooksOf(round.children)];
  });
  for (const tools of align(...rounds.map((it) => of(it, 'tool')), [callOf, (it) => it.name])) {
    const { name } = tools.find(Boolean);
    add(parts, `${title}, ${name}`, tools, (tool) => [['arguments', argumentsOf(tool)],
      ['arguments that the tool alone receives', argumentsOf(tool)?.includes(HIDDEN) ? null : ''], ['end', tool.state],
      ['result', tool.result && resultOf(tool.result)], ...hooksOf(tool.children)]);
    compareSubAgents(parts, tools, `${title}, ${name} › `);
  }
}

/** The arguments as JSON, if they are known; the order of names tells nothing. */
function argumentsOf({ input, invalid, hidden }) {
  return hidden === undefined ? invalid ?? JSON.stringify(input, inOrder, 2) ?? null : null;
}

function inOrder(key, value) {
  const isMap = value && typeof value === 'object' && !Array.isArray(value) && !JSON.isRawJSON?.(value);
  return isMap ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value;
}

function compareSubAgents(parts, pair, path) {
  for (const runs of align(...pair.map((it) => of(it, 'run')), [(it) => it.agent])) {
    compareRuns(parts, runs, `${path}${runs.find(Boolean).agent} › `);
  }
}

/** What hooks decided and changed, a line each. */
function hooksOf(children) {
  const hooks = children.filter((it) => it.kind === 'hook').map((it) => it.hook)
    .filter((it) => it.flow !== 'continue' || it.changed?.length || it.cut);
  const changes = hooks.flatMap((it) => it.changed ?? []);
  const isHidden = hooks.some((it) => it.cut)
    || changes.some((it) => it.after === undefined && it.after_chars !== undefined);
  return [['hooks', hooks.flatMap(({ hook, event, flow, shadow, changed = [] }) =>
    [`${hook} at ${event}: ${flow}${shadow ? ' in shadow' : ''}`, ...changed.map((it) => `  ${it.path}`)]).join('\n')],
  ['what hooks wrote', isHidden ? null : changes.map((it) => `${it.path}: ${JSON.stringify(it.after)}`).join('\n')]];
}
