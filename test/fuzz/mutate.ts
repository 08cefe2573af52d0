// Breaks a valid frame: in its structure, in its text, in its bytes. Pure except for the random source, so that a seed
// gives the same bytes again.
import { isObject, type JsonObject } from "../../src/base/json.ts";
import type { Random } from "../store/random.ts";
import { pick } from "./corpus.ts";

/** The bytes of one input, without the newline at its end. A newline inside is possible and makes two lines. */
export function mutate(frame: JsonObject, random: Random): Buffer {
  let text: string | undefined;
  let bytes: Buffer | undefined;
  const style = random(10);
  if (style < 6) for (let n = 1 + random(3); n > 0; n -= 1) breakStructure(frame, random);
  text = JSON.stringify(frame);
  if (style === 0 || style === 6 || style === 7) text = pick(TEXT_BREAKS, random)(text, random);
  bytes = Buffer.from(text);
  if (style === 1 || style >= 8) for (let n = 1 + random(3); n > 0; n -= 1) bytes = breakBytes(bytes, random);
  return bytes;
}

type Owner = JsonObject | unknown[];
type StructureBreak = (owner: Owner, key: string, random: Random) => void;

const STRUCTURE_BREAKS: StructureBreak[] = [
  (owner, key, random) => put(owner, key, oddValue(random)),
  (owner, key, random) => put(owner, key, oddValue(random)),
  (owner, key) => {
    if (Array.isArray(owner)) owner.splice(Number(key), 1);
    else delete owner[key];
  },
  (owner, key) => put(owner, key, [get(owner, key)]),
  (owner, key) => put(owner, key, { [key]: get(owner, key) }),
  (owner, _key, random) => put(owner, pick(ODD_KEYS, random), oddValue(random)),
  (owner, key, random) => {
    const value = get(owner, key);
    if (typeof value === "string") put(owner, key, value + pick(ODD_STRINGS, random));
  },
  (owner, key, random) => {
    const value = get(owner, key);
    if (typeof value === "string") put(owner, key, pick(ODD_STRINGS, random) + value);
  },
];

const ODD_KEYS = [
  ..."__proto__ constructor prototype toString hasOwnProperty __defineGetter__ valueOf".split(" "),
  ..."id type session_id options claude cwd raw seq 0 length".split(" "),
  ..."dangerously_skip_permissions bare continue from_pr input_format output_format".split(" "),
  "",
  "\u0000",
  "\ud800",
  "é",
];

const ODD_STRINGS = [
  "",
  "-",
  "--dangerously-skip-permissions",
  "--bare",
  "-p",
  "--model=x",
  "=",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udfff\ud800",
  "\u2028",
  "\ufeff",
  "\n",
  "\r\n",
  "\u001b]0;x\u0007",
  "../../etc/passwd",
  "/",
  "..",
  ".",
  "%2e%2e",
  "blemees/2",
  "claude",
  "demo",
  "blemeesd.open",
  "agent.user",
  "agent.result",
  "__proto__",
  "constructor",
  "🦀".repeat(40),
  "x".repeat(200),
];

const ODD_NUMBERS = [
  0,
  -0,
  -1,
  1.5,
  1e308,
  -1e308,
  5e-324,
  Number.MAX_SAFE_INTEGER,
  Number.MAX_SAFE_INTEGER + 1,
  -Number.MAX_SAFE_INTEGER - 1,
  2 ** 31,
  2 ** 32,
  2 ** 63,
];

function oddValue(random: Random): unknown {
  switch (random(9)) {
    case 0:
      return null;
    case 1:
      return random(2) === 0;
    case 2:
    case 3:
      return pick(ODD_NUMBERS, random);
    case 4:
      return random(2) === 0 ? [] : {};
    case 5:
      return nested(1 + random(random(40) === 0 ? 3_000 : 80), random(2) === 0);
    case 6:
      return Array.from({ length: random(5) }, () => pick(ODD_STRINGS, random));
    default:
      return pick(ODD_STRINGS, random);
  }
}

function nested(depth: number, isArray: boolean): unknown {
  let value: unknown = 1;
  for (let n = 0; n < depth; n += 1) value = isArray ? [value] : { a: value };
  return value;
}

function breakStructure(frame: JsonObject, random: Random): void {
  let owner: Owner = frame;
  for (;;) {
    const keys = Object.keys(owner);
    if (keys.length === 0) return;
    const key = pick(keys, random);
    const value = get(owner, key);
    // Descends half of the time, if possible: options and messages are where the rules are.
    if ((isObject(value) || Array.isArray(value)) && random(2) === 0) {
      owner = value;
      continue;
    }
    pick(STRUCTURE_BREAKS, random)(owner, key, random);
    return;
  }
}

function get(owner: Owner, key: string): unknown {
  return Array.isArray(owner) ? owner[Number(key)] : owner[key];
}

/** Defined, not assigned: `__proto__` must become a key of the text, not our own prototype. */
function put(owner: Owner, key: string, value: unknown): void {
  if (Array.isArray(owner)) owner.push(value);
  else Object.defineProperty(owner, key, { value, enumerable: true, configurable: true, writable: true });
}

type TextBreak = (text: string, random: Random) => string;

const TEXT_BREAKS: TextBreak[] = [
  (text, random) => text.slice(0, random(text.length + 1)),
  (text, random) => text.slice(random(text.length)),
  // The same key twice, first or last: JSON.parse keeps the last.
  (text, random) => `{"type":"blemeesd.${pick(["open", "ping", "close"], random)}",${text.slice(1)}`,
  (text, random) => `${text.slice(0, -1)},"type":"${pick(ODD_STRINGS.slice(23, 27), random)}"}`,
  (text, random) => `${text.slice(0, -1)},"session_id":${JSON.stringify(pick(ODD_STRINGS, random))}}`,
  (text) => `${text.slice(0, -1)},"__proto__":{"polluted":1,"type":"blemeesd.ping"}}`,
  (text) => text.replace("{", '{"__proto__":{"polluted":true},'),
  (text) => `${text.slice(0, -1)},"constructor":{"prototype":{"polluted":1}}}`,
  (text, random) => {
    const literal = pick(["1e400", "-1e400", "9".repeat(400), "-0", "1e-999", "01", "NaN", "0x1"], random);
    return text.replace(/\d+|true|false|"[a-z]\d"/, literal);
  },
  (text, random) => {
    const broken = pick(["\\ud800", "\\udc00x", "\\u0000", "\\", "\\x", "\\u12"], random);
    return text.replace(/"([a-z])/g, (match, letter) => (random(4) === 0 ? `"${broken}${letter}` : match));
  },
  (text, random) => insertAt(text, random(text.length + 1), pick(ODD_STRINGS, random)),
  (text, random) => insertAt(text, random(text.length + 1), pick([...'{}[]",:\\ \t\r\n0e-'], random)),
  (text) => `[${text}]`,
  (text) => text + text,
  (text) => `\ufeff${text}`,
  (text, random) => {
    const depth = 1 + random(random(20) === 0 ? 20_000 : 100);
    return text.replace(/:("[^"]*"|\d+)/, `:${"[".repeat(depth)}${"]".repeat(depth)}`);
  },
  (text, random) => text.replace(/:"/, `:"${"x".repeat(random(random(50) === 0 ? 100_000 : 2_000))}`),
];

function insertAt(text: string, at: number, part: string): string {
  return text.slice(0, at) + part + text.slice(at);
}

function breakBytes(bytes: Buffer, random: Random): Buffer {
  const at = random(bytes.length + 1);
  switch (random(7)) {
    case 0:
    case 1: {
      const copy = Buffer.from(bytes);
      for (let n = 1 + random(4); n > 0 && copy.length > 0; n -= 1) {
        const place = random(copy.length);
        copy[place] = (copy[place] ?? 0) ^ (1 << random(8));
      }
      return copy;
    }
    case 2:
      return bytes.subarray(0, at);
    case 3:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(4))]);
    case 4:
      return Buffer.concat([bytes.subarray(0, at), pick(ODD_BYTES, random), bytes.subarray(at)]);
    case 5:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(random(bytes.length + 1))]);
    default: {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[random(copy.length)] = random(256);
      return copy;
    }
  }
}

/** A truncated character, a surrogate in UTF-8, an overlong slash, NUL, bytes that are never UTF-8. */
const ODD_BYTES = ["e282", "f09f", "eda080", "c0af", "00", "ff", "fe", "0a", "0d0a", "1b5b41", "80"].map(
  (hex) => Buffer.from(hex, "hex"),
);
