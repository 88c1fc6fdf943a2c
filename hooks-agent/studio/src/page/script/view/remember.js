// What an approval may be remembered for: how far it reaches, and for which arguments.

import { button, h, say } from './dom.js';
import { capital, shown } from './format.js';

/** A choice of the program: how far it reaches, and its rule. */
function read(text, index) {
  const [, reach, rule] = /^(.*?): (.*)$/s.exec(shown(text)) ?? ['', '', '', shown(text)];
  return { value: String(index), reach, rule };
}

/** Whose calls a choice is about, by the words of the program. */
function whose(reach, { user, thread }) {
  const whom = user ? `for ${shown(user)} ` : '';
  return { 'on this thread': `${whom}on thread ${shown(thread)}`, 'for this user': `${whom}on every thread`,
    'for everybody': 'for everybody on every thread' }[reach] ?? reach;
}

/**
 * A field that chooses what an approval is remembered for, a sentence that says what that means, and a
 * button that sends it. `send(index)` gets the number of the choice, `chose(isSet)` is told whether there is one.
 */
export function rememberForm(approval, { send, chose }) {
  const choices = approval.remember.map(read);
  const reaches = [...new Set(choices.map((it) => it.reach))];
  const meaning = h('p.faint', { id: `meaning-${approval.id}` });
  const options = (of) => choices.filter((it) => it.reach === of)
    .map(({ value, rule }) => h('option', { value }, rule));
  const select = h('select', { onchange: () => draw() },
    h('option', { value: '' }, 'no, the next call asks again'),
    reaches.map((reach) => h('optgroup', { label: capital(reach) }, options(reach))));
  const submit = button('Approve and remember', () => send(Number(select.value)));
  for (const it of [select, submit]) it.setAttribute('aria-describedby', meaning.id);
  const draw = () => {
    const choice = choices.find((it) => it.value === select.value);
    meaning.hidden = submit.hidden = !choice;
    say(meaning, choice ? `Later calls of ${shown(approval.tool)} ${whose(choice.reach, approval)} run `
      + `without a question: ${choice.rule}.` : '');
    chose(Boolean(choice));
  };
  draw();
  return h('div.remember', {}, h('label', {}, 'Remember the approval ', select), meaning, submit);
}
