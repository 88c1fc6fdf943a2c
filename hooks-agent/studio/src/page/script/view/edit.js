// The form in which a person writes other arguments.

import { announce, button, h, say } from './dom.js';
import { shown } from './format.js';
import { parse } from './json.js';
import { lint } from './lint.js';
import { misfits } from './schema.js';

const MOST = 5;

/** What is wrong with a text: `[message, isJson]`. Only what is no JSON cannot be tried. */
function wrongWith(text, schema) {
  const { line, column, what } = lint(text);
  if (what !== null) return [`This is not JSON: line ${line}, column ${column}: ${what}.`, false];
  const input = parse(text);
  const isObject = input && typeof input === 'object' && !Array.isArray(input) && /^\s*\{/.test(text);
  if (!isObject) return ['Arguments are a JSON object: { … }.', false];
  const found = misfits(schema, input);
  const more = found.length > MOST ? [`and ${found.length - MOST} more`] : [];
  return [[...found.slice(0, MOST), ...more].map(shown).join('\n'), true];
}

/**
 * The arguments as the program wrote them, to be changed: what is sent is the text that is seen, so that a
 * number that nobody touched keeps its digits.
 */
export function editForm({ id, source, schema }, { send, cancel, changed }) {
  const area = h('textarea.code', { value: source, spellcheck: false,
    rows: Math.min(16, source.split('\n').length + 1), ariaLabel: 'Arguments as JSON' });
  const problem = h('p.problem', { id: `problem-${id}` });
  const note = h('p.note');
  area.setAttribute('aria-describedby', problem.id);
  const check = () => {
    const [message, isJson] = wrongWith(area.value, schema);
    say(problem, message);
    const twice = isJson ? [...lint(area.value).twice] : [];
    say(note, twice.length ? 'Of names that are there twice, the last one counts: '
      + `${twice.map(shown).join(', ')}.` : '');
    area.ariaInvalid = message !== '';
    submit.disabled = !isJson;
    changed(area.value === source ? null : area.value);
    return message === '';
  };
  const submit = button('Approve these', () => {
    // What is sent is what was checked.
    if (check()) {
      send(area.value);
    } else {
      announce(problem.textContent);
      area.focus();
    }
  }, '.primary');
  area.addEventListener('input', check);
  return { area, problem,
    parts: [area, problem, note, h('div.actions', {}, submit, button('Cancel', cancel))] };
}
