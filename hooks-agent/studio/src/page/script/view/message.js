// One message of several.

import { mediaOf, outputOf } from './entry.js';
import { code, hiddenText, longText } from './code.js';
import { h } from './dom.js';
import { shown } from './format.js';

export const roleOf = (msg) => ({ user: 'User', tool: 'Tool result', system: 'System' })[msg.role]
  ?? shown(msg.name || msg.role);

export function message(msg, at, all) {
  const whose = all.length > 1 && h('span.label', {}, roleOf(msg));
  const blocks = (msg.content ?? []).map((block) => {
    if (block.type === 'text') return longText('div.prose', block.text);
    if (block.type === 'thinking') return longText('div.prose.muted', block.thinking);
    if (block.type === 'tool_result') return code(outputOf(block.output).text);
    if (block.type === 'tool_use') return [h('p.media', {}, 'Calls ', h('code', {}, shown(block.name))), code(block.input)];
    return h('p.media', {}, shown(mediaOf(block)));
  });
  return h('div.message', {}, whose, msg.hidden ? hiddenText('text', msg.chars) : blocks);
}
