// JSON whose numbers keep their digits.

const LONG = /\d{16}/;
const WHOLE = /^-?\d+$/;

/**
 * Parses JSON. A whole number that JavaScript cannot hold stays as it was written where the browser can do
 * that: it is shown digit by digit.
 */
export function parse(text) {
  return LONG.test(text) && JSON.rawJSON ? JSON.parse(text, exact) : JSON.parse(text);
}

function exact(key, value, context) {
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value);
  return isRounded && WHOLE.test(context?.source) ? JSON.rawJSON(context.source) : value;
}
