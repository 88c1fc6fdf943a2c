// Why something failed, beside the sentence that says it.

import { copyButton } from './copy.js';
import { h } from './dom.js';
import { duration, shown } from './format.js';

/** The id of the request for the provider, when to try again, and the text of the error, folded. */
export function failureMore({ request_id: id, retry_after_ms: later, text }) {
  if (!id && later === undefined && !text) return '';
  return h('div.failure', {},
    id && h('p', {}, h('span.faint', {}, 'Request '), h('code', {}, shown(id)), ' ',
      copyButton('Copy id', () => id, 'The id of the request is')),
    later !== undefined && h('p.faint', {}, `The provider asks to wait ${duration(later)}.`),
    text && h('details', {}, h('summary', {}, 'Text of the error'), h('pre.code', {}, shown(text))));
}
