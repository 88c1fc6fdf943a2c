// What differs between two lists: words and lines of texts, rounds, tool calls.

/** The most cells of the table of a comparison. What is longer between equal ends is different as a whole. */
const MOST_CELLS = 4_000_000;

/**
 * The steps from one list to the other: `['', one, other]` for what has the same key, `['del', one]` and
 * `['ins', other]` for what one of them has alone.
 */
export function steps(olds, nows, keyOf = (it) => it) {
  const [one, other] = [olds.map(keyOf), nows.map(keyOf)];
  let [begin, stop, last] = [0, one.length, other.length];
  while (begin < stop && begin < last && one[begin] === other[begin]) begin += 1;
  while (stop > begin && last > begin && one[stop - 1] === other[last - 1]) [stop, last] = [stop - 1, last - 1];
  const common = table(one.slice(begin, stop), other.slice(begin, last));
  const isLonger = (i, j) => !common || common(i + 1, j) >= common(i, j + 1);
  const found = [];
  let [i, j] = [0, 0];
  while (i < one.length || j < other.length) {
    const isBetween = i >= begin && (i < stop || j < last);
    if (!isBetween || (common && i < stop && j < last && one[i] === other[j])) found.push(['', olds[i++], nows[j++]]);
    else if (j === last || (i < stop && isLonger(i - begin, j - begin))) found.push(['del', olds[i++]]);
    else found.push(['ins', nows[j++]]);
  }
  return found;
}

/** How much the rests of two lists have in common; null if they are too long. */
function table(one, other) {
  const width = other.length + 1;
  if (one.length * other.length > MOST_CELLS) return null;
  const lengths = new Uint16Array((one.length + 1) * width);
  const at = (i, j) => lengths[i * width + j];
  for (let i = one.length - 1; i >= 0; i -= 1) {
    for (let j = other.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  return at;
}

/** Pairs of two lists in their order: by the first key, then between those by the next. Null is beside what is alone. */
export function align(olds, nows, [keyOf, ...others]) {
  if (!keyOf) return [...olds.map((it) => [it, null]), ...nows.map((it) => [null, it])];
  const found = [];
  let between = { del: [], ins: [] };
  const close = () => {
    found.push(...align(between.del, between.ins, others));
    between = { del: [], ins: [] };
  };
  for (const [kind, ...pair] of steps(olds, nows, keyOf)) {
    if (kind) {
      between[kind].push(pair[0]);
    } else {
      close();
      found.push(pair);
    }
  }
  close();
  return found;
}
