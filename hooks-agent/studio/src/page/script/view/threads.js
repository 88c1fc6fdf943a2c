// The list of conversations.

import { threadsOf } from './conversations.js';
import { readPlace, threadLink } from './place.js';
import { state, titleOf } from './state.js';
import { say } from './dom.js';
import { amount, compact, count, shown } from './format.js';
import { RunItems, drawState } from './run_items.js';
import { RunList } from './runs.js';

class ThreadItems extends RunItems {
  keyOf({ agent, thread }) {
    return this.linkOf({ agent, thread });
  }

  linkOf({ agent, thread }) {
    return threadLink(agent, thread);
  }

  write(item, { title, agent, thread, user, runs, last, input, output, cost }) {
    if (last) drawState(item, last);
    else item.dot.ariaLabel = item.dot.title = 'No run yet';
    say(item.title, title);
    say(item.who, [agent, thread, user].filter((it) => it !== undefined).map(shown).join(' · '));
    const tokens = input + output;
    say(item.more, [runs.length ? count(runs.length, 'run') : 'no run yet', tokens && `${compact(tokens)} tok`,
      cost > 0 && amount(cost)].filter(Boolean).join(' · '));
  }

  mark() {
    const { id, more } = readPlace();
    super.mark(this.keyOf({ agent: id, thread: more }));
  }
}

export class ThreadList extends RunList {
  constructor(side) {
    super(side, 'Conversations', new ThreadItems('Conversations'));
    this.beyond = [];
  }

  ask() {}

  all() {
    return [threadsOf(state.runs)];
  }

  textOf({ agent, thread, user, runs }) {
    return [agent, thread, user, ...runs.map(titleOf)].join('\n');
  }
}
