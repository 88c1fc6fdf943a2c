// The head of a run: what it is, how it stands, and what a person may do with it.

import { api } from './api.js';
import { STATES, failureOf } from './entry.js';
import { addressOf, runLink, threadLink } from './place.js';
import { mayAct, state, titleOf } from './state.js';
import { action, backLink, button, fill, h, say } from './dom.js';
import { exportMenu } from './export.js';
import { failureMore } from './failure.js';
import { amount, clock, compact, count, date, duration, number, shown } from './format.js';

/** From when on a time of the day does not tell which day. */
const LONG_AGO = 12 * 3_600_000;

/** The facts of a run by their names; some are there only if there is something to say. */
export function factsOf(run, errors) {
  const { input_tokens: input, output_tokens: output, cache_read: cached } = run;
  const tokens = input || output ? `${compact(input)} in, ${compact(output)} out` : 'none';
  const user = run.user ? { User: shown(run.user) } : {};
  const facts = { Agent: shown(run.agent), Thread: shown(run.thread), ...user,
    Started: (Date.now() - run.started < LONG_AGO ? clock : date)(run.started),
    // This one goes on by itself.
    Took: null, Rounds: number(run.rounds), Tools: number(run.tools),
    Tokens: cached ? `${tokens}, ${compact(cached)} cached` : tokens };
  if (run.retries) facts.Retries = number(run.retries);
  if (run.first_ms !== undefined) facts['First token'] = duration(run.first_ms);
  if (run.cost) facts.Cost = amount(run.cost);
  if (errors) facts['Tool errors'] = number(errors);
  return { ...facts, Run: run.run.slice(0, 8) };
}

export class RunHead {
  /** `page` toggles, folds and finds rows; `control` chooses between tree and time. */
  constructor(page, control) {
    Object.assign(this, { page, control, shape: null, facts: new Map() });
    this.element = h('header.run-head');
  }

  draw(view, quiet, isFresh) {
    const run = view.tree?.summary ?? state.runs.get(view.id);
    if (view.error || !run) {
      this.shape = null;
      fill(this.element, backLink('#/', 'Runs'), h('h1', {}, view.error ? 'This run is not here' : 'Run'),
        h('p.missing', {}, view.error ? `${shown(view.error.message)} The program keeps the latest runs: choose one of `
          + 'the list.' : 'Loading the run.'));
      return;
    }
    const failure = run.failure ?? view.tree?.failure;
    const facts = factsOf(run, run.tool_errors ?? view.tree?.errors);
    const shape = JSON.stringify([run.run, run.state, run.title, quiet, this.page.showsQuiet, run.dropped,
      mayAct(), run.resumed_by, failure, Object.keys(facts), view.isPast]);
    if (shape !== this.shape || isFresh) {
      this.shape = shape;
      this.build(run, { quiet, failure, names: Object.keys(facts), isPast: view.isPast });
    }
    for (const [name, text] of Object.entries(facts)) this.fact(name, text);
  }

  build(run, { quiet, failure, names, isPast }) {
    const titles = { Started: date(run.started), Run: run.run };
    this.facts = new Map(names.map((name) => [name, h('dd', { title: titles[name] })]));
    const errors = button('', () => this.page.nextFailure(1), '.link');
    errors.title = 'To the next failure';
    this.facts.get('Tool errors')?.append(errors);
    if (!run.parent) this.facts.get('Thread').append(h('a.link', { title: 'To its conversation',
      href: threadLink(run.agent, run.thread, { at: run.run }) }));
    fill(this.element, backLink('#/', 'Runs'),
      h('div.run-title', {},
        h('h1', {}, titleOf(run)),
        h(`span.chip.state.${run.state}`, {}, STATES[run.state] ?? shown(run.state)),
        isPast && h('span.chip.past', { title: 'The program no longer has it in memory: the store told what '
          + 'happened, and nothing changes here.' }, 'From the history, not live'),
        run.resumed_by && h('a.link.goes-on', { href: runLink(run.resumed_by) },
          'Open the run that went on'),
        h('div.head-actions', {},
          this.control,
          quiet > 0 && this.quietButton(quiet),
          this.foldButton(),
          h('a.quiet', { href: addressOf(`/compare/${run.run}`, { agent: run.agent }) }, 'Compare with…'),
          exportMenu(run, isPast),
          run.state === 'running' && !isPast && mayAct() && interruptButton(run))),
      failure && h('div.cause', {}, h('p.problem', {}, shown(failureOf(failure))), failureMore(failure)),
      h('dl.facts', {}, names.map((name) =>
        h('div.fact', {}, h('dt', {}, name), this.facts.get(name)))),
      run.dropped > 0 && h('p.note', {}, `The first ${count(run.dropped, 'event')} of this run are`
        + ' no longer kept.'));
  }

  fact(name, text) {
    const value = this.facts.get(name);
    if (value && text !== null) say(value.firstChild ?? value, text);
  }

  quietButton(quiet) {
    const made = button(`Quiet hooks ${number(quiet)}`, () => this.page.toggleQuiet(), '.quiet');
    made.ariaPressed = this.page.showsQuiet;
    return made;
  }

  foldButton() {
    const made = button('Collapse', () => {
      const isOpen = made.textContent === 'Expand';
      this.page.foldAll(isOpen);
      say(made, isOpen ? 'Collapse' : 'Expand');
    }, '.quiet');
    return made;
  }
}

const interruptButton = ({ run }) => action('Interrupt', async (made) => {
  await api.interrupt(run);
  say(made, 'Interrupting');
  return true;
}, '.danger');
