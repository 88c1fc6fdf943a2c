// A part of JSON Schema: what it refuses, the program refuses too. What it does not know fits.

const DIALECTS = /^https?:\/\/json-schema\.org\/(draft\/20(19-09|20-12)|draft-07)\/schema#?$/;
const WORDS = { string: 'a text', number: 'a number', integer: 'a whole number', boolean: 'true or false',
  array: 'a list', object: 'an object', null: 'null' };
/** A schema may refer to itself without end. */
const MOST_STEPS = 2000;

const isRaw = (value) => JSON.isRawJSON?.(value) ?? false;
const isObject = (value) => typeof value === 'object' && value !== null && !isRaw(value);
const isMap = (value) => isObject(value) && !Array.isArray(value);

/** Whether numbers are compared as the program does it: without being rounded. */
const isExact = (value) => typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

function typeOf(value) {
  if (isRaw(value)) return 'integer';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function maySame(one, other) {
  if (isObject(one) || isObject(other)) return isObject(one) && isObject(other);
  if (isRaw(one) || isRaw(other)) return typeOf(one) === typeOf(other);
  return one === other || (typeof one === 'number' && typeof other === 'number' && !isExact(other));
}

/** Why a value does not fit a schema: sentences that begin with the place. */
export function misfits(schema, value) {
  if (!isMap(schema) || (schema.$schema !== undefined && !DIALECTS.test(schema.$schema))) return [];
  // Where parts of a schema have addresses of their own, `#` means another place.
  const root = JSON.stringify(schema).includes('"$id":') ? null : schema;
  return new Check(root).at(schema, value, '');
}

class Check {
  constructor(root) {
    this.root = root;
    this.steps = 0;
  }

  /** The part of the schema that a reference is to, if it is in this document. */
  find(ref) {
    if (!this.root || typeof ref !== 'string' || !/^#(\/|$)/.test(ref)) return undefined;
    let found = this.root;
    for (const part of ref.split('/').slice(1)) {
      if (part.includes('%') || !isObject(found)) return undefined;
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      if (!Object.hasOwn(found, name)) return undefined;
      found = found[name];
    }
    return found;
  }

  at(schema, value, path) {
    this.steps += 1;
    if (this.steps > MOST_STEPS || !isMap(schema)) return [];
    if (schema.$ref !== undefined) return this.at(this.find(schema.$ref), value, path);
    return [...this.own(schema, value, path), ...this.parts(schema, value, path)];
  }

  own(schema, value, path) {
    const place = path || 'The arguments';
    const found = [];
    const say = (is, text) => {
      if (is) found.push(`${place}: ${text}`);
    };
    const [type, types] = [typeOf(value), [schema.type ?? []].flat()];
    const isKnown = types.length > 0 && types.every((it) => Object.hasOwn(WORDS, it));
    const fits = types.some((it) => it === type || (it === 'number' && type === 'integer'));
    say(isKnown && !fits, `must be ${types.map((it) => WORDS[it]).join(' or ')}`);
    const { enum: one, minimum, maximum, minLength: least, maxLength: most } = schema;
    const isOther = Array.isArray(one) && one.length > 0 && !one.some((it) => maySame(value, it));
    if (isOther) say(true, `must be ${one.slice(0, 8).map((it) => JSON.stringify(it)).join(' or ')}`);
    say(isExact(value) && isExact(minimum) && value < minimum, `must be at least ${minimum}`);
    say(isExact(value) && isExact(maximum) && value > maximum, `must be at most ${maximum}`);
    const length = type === 'string' ? [...value].length : null;
    say(length !== null && isExact(least) && length < least, `must have at least ${least} characters`);
    say(length !== null && isExact(most) && length > most, `must have at most ${most} characters`);
    return found;
  }

  parts(schema, value, path) {
    if (Array.isArray(value)) {
      if (schema.prefixItems || !isMap(schema.items)) return [];
      return value.flatMap((it, index) => this.at(schema.items, it, `${path}[${index}]`));
    }
    if (!isMap(value)) return [];
    const inside = (name) => (path ? `${path}.${name}` : name);
    const known = isMap(schema.properties) ? schema.properties : {};
    const needed = Array.isArray(schema.required) ? schema.required : [];
    const found = needed.filter((it) => typeof it === 'string' && !Object.hasOwn(value, it))
      .map((name) => `${inside(name)}: is missing`);
    for (const [name, part] of Object.entries(value)) {
      if (Object.hasOwn(known, name)) found.push(...this.at(known[name], part, inside(name)));
      else if (schema.patternProperties) continue;
      else if (schema.additionalProperties === false) found.push(`${inside(name)}: is no argument here`);
      else found.push(...this.at(schema.additionalProperties, part, inside(name)));
    }
    return found;
  }
}
