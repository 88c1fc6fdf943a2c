// A run as a piece of a conversation: what was said, the tools as one line each, and how it ended.

import { api } from './api.js';
import { REASONS, failureOf, outputOf } from './entry.js';
import { runLink } from './place.js';
import { RunView } from './run_view.js';
import { hiddenText, longText } from './code.js';
import { fill, h, icon } from './dom.js';
import { failureMore } from './failure.js';
import { args, compact, count, date, duration, line, shown } from './format.js';
import { KINDS, stateChip } from './kinds.js';

/** How long a run that goes on is left before it is loaded again. */
const PAUSE = 1000;

export class Piece {
  constructor(run) {
    this.facts = h('span.faint');
    this.next = h('span.faint', {}, 'went on with the run above');
    this.body = h('div.told', {}, run.title && said('user', run.user ?? 'User', h('div.prose', {}, shown(run.title))));
    this.element = h('li.piece', { tabIndex: -1, data: { run: run.run } }, h('h2', {},
      h('a.link', { href: runLink(run.run) }, h('span.unseen', {}, 'Run of '), date(run.started)), ' ', this.next, ' ',
      this.facts), this.body);
  }

  draw(run, isNext = false) {
    this.element.classList.toggle('is-next', isNext);
    this.next.hidden = !isNext;
    if (this.run === run) return;
    this.run = run;
    const tokens = (run.input_tokens ?? 0) + (run.output_tokens ?? 0);
    fill(this.facts, run.state !== 'finished' && [stateChip(run.state), ' '],
      [run.ended && duration(run.ended - run.started), tokens && `${compact(tokens)} tok`].filter(Boolean).join(' · '));
    if (this.loaded !== undefined) this.load();
  }

  /** Loads what happened, and again when there is more. */
  async load() {
    const { run, events } = this.run;
    if (this.isLoading || this.loaded === events) return;
    this.isLoading = true;
    try {
      const view = new RunView(run);
      view.load(await api.run(run));
      fill(this.body, toldBy(view.tree, this.run));
    } catch (error) {
      fill(this.body, h('p.problem', {}, shown(error.message)));
    }
    this.loaded = events;
    setTimeout(() => {
      this.isLoading = false;
      if (this.element.isConnected) this.load();
    }, PAUSE);
  }

  /** Tells what was decided about its questions by now. */
  drawDecisions() {
    if (this.loaded === undefined || !['waiting', 'resumed'].includes(this.run.state)) return;
    this.loaded = null;
    this.load();
  }
}

/** What somebody says, beside their name. */
export const said = (kind, name, ...body) =>
  h(`div.said.by-${kind}`, {}, h('span.label', {}, shown(name)), h('div', {}, body));

function toldBy(tree, run) {
  // What hooks made of the answer is there instead of it.
  const last = tree.children.some((it) => it.kind === 'reply')
    && tree.round?.children.findLast((it) => it.kind === 'text');
  const nodes = tree.children.flatMap((it) => (it.kind === 'round' ? it.children : it));
  return [run.dropped > 0 && h('p.note', {}, `The first ${count(run.dropped, 'event')} of this run are no longer kept.`),
    nodes.filter((it) => it !== last).map((it) => PARTS[it.kind]?.(it, run)), ending(tree, run)];
}

const answer = ({ text, hidden, isGrowing }, { agent }) => said(`agent${isGrowing ? '.is-growing' : ''}`, agent,
  hidden ? hiddenText(isGrowing ? 'draft' : 'text', hidden) : longText('div.prose', text));

const PARTS = {
  input: (node, run) => said('user', run.user ?? 'User', KINDS.input(node).body),
  text: answer,
  reply: answer,
  tool({ name, input, invalid, hidden, result, children, state, seq }, run) {
    const isBad = ['failed', 'refused'].includes(state);
    const output = result && line(outputOf(result.output).text);
    return [h(`a.step${isBad ? '.is-error' : ''}`, { href: runLink(run.run, seq) },
      icon(isBad ? 'error' : children.some((it) => it.kind === 'run') ? 'run' : 'tool'),
      h('span.tool-name', {}, shown(name)),
      hidden === undefined ? h('span.args', {}, shown(args(invalid ?? input))) : hiddenText('arguments', hidden),
      state !== 'waiting' && stateChip(state),
      result?.hidden ? hiddenText('result', result.chars) : output && h('span.out', {}, `→ ${output}`)),
    children.filter((it) => it.kind === 'asked').map((it) => h('p.step', {}, icon('asked'), KINDS.asked(it).parts))];
  },
};

function ending(tree, run) {
  const failure = run.failure ?? tree.failure;
  if (failure) return h('div.cause', {}, h('p.problem', {}, shown(failureOf(failure))), failureMore(failure));
  const reason = run.reason !== 'permission_asking' && (REASONS[run.reason] ?? run.reason);
  return reason && h('p.note', {}, `It ended: ${shown(reason)}.`);
}
