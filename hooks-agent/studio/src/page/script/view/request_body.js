// What a model was asked: messages, tools, options.

import { code, longText } from './code.js';
import { h } from './dom.js';
import { count, shown } from './format.js';
import { message } from './message.js';

/** What is in a request, folded: who opens it looks for one of many. */
export function requestBody({ messages, known, tools, options }) {
  const own = known > 0 && known < messages.length ? `, ${count(messages.length - known, 'new one')}` : '';
  const texts = tools.map(({ name, description, schema }) => folded(shown(name),
    () => [longText('div.prose', description), code(schema)]));
  return [
    folded(count(messages.length, 'message') + own,
      () => messages.map((msg, at) => message(msg, at, messages))),
    tools.length > 0 && folded(count(tools.length, 'tool'), () => texts),
    folded('Options', () => [code(options)]),
  ];
}

function folded(name, make) {
  const made = h('details.folded', {}, h('summary', {}, name));
  made.addEventListener('toggle', () => {
    if (made.childElementCount === 1) made.append(...make());
  });
  return made;
}
