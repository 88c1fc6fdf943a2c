// The whole requests of a run, each written as its difference to the one before it.

/**
 * A request with all of its messages, and how many of them the one before had; null if it is hidden, or is the
 * difference to another one than the `last` that is known.
 */
export function wholeRequest(last, { hidden, number, since, messages, tools, options }) {
  if (hidden || (since && last?.number !== since)) return null;
  const before = since ? last : null;
  const whole = { number, messages: [], known: 0, tools: tools ?? before?.tools, options: options ?? before?.options };
  for (const piece of messages) {
    if (!Array.isArray(piece)) {
      whole.messages.push(piece);
      continue;
    }
    const [start, end] = piece;
    if (!before || end > before.messages.length) return null;
    whole.messages.push(...before.messages.slice(start, end));
    whole.known += end - start;
  }
  return whole.tools && whole.options ? whole : null;
}
