// Where a text stops being JSON, which browsers tell in words of their own.

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;
const OTHER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** The program reads no more than 128 levels. */
const DEEPEST = 200;

/** Returns `{ line, column, what }` of the first mistake, and the names that an object has `twice`. */
export function lint(text) {
  const twice = new Set();
  let [at, depth] = [0, 0];
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? null;
    at += found?.length ?? 0;
    return found;
  };
  const next = () => {
    take(SPACE);
    return text[at];
  };
  const fail = (what) => {
    throw new Mistake(what);
  };
  const string = () => {
    const begin = at;
    const found = take(STRING);
    if (text[at] === '\\') fail('this is no escape of JSON');
    if (text[at] !== '"') fail('a quote that ends the text is expected');
    at += 1;
    return JSON.parse(text.slice(begin, begin + found.length + 1));
  };
  const list = (end, item) => {
    depth += 1;
    if (depth > DEEPEST) fail('this is nested too deeply');
    at += 1;
    if (next() !== end) {
      item();
      while (next() === ',') {
        at += 1;
        next();
        item();
      }
      if (text[at] !== end) fail(`a comma or ${end} is expected`);
    }
    depth -= 1;
    at += 1;
  };
  const value = () => {
    const first = next();
    if (first === '{') {
      const names = new Set();
      list('}', () => {
        if (next() !== '"') fail('a name in double quotes is expected');
        const name = string();
        if (names.has(name)) twice.add(name);
        names.add(name);
        if (next() !== ':') fail('a colon is expected');
        at += 1;
        value();
      });
    } else if (first === '[') {
      list(']', value);
    } else if (first === '"') {
      string();
    } else if (take(OTHER) === null) {
      fail('a value is expected');
    }
  };
  try {
    value();
    if (next() !== undefined) fail('nothing is expected after the end');
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    const before = text.slice(0, at).split('\n');
    return { line: before.length, column: before.at(-1).length + 1, what: error.message, twice };
  }
  return { what: null, twice };
}

class Mistake extends Error {}
