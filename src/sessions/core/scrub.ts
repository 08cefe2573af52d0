// What may be told of an input in a bug report: its shape, ids, codes and numbers, never what people, agents or options
// say. A text becomes its length. Only what is known to be ours is looked into; in everything else anything may stand.

/** Fields whose text is one of ours, or an id. */
const KEPT: ReadonlySet<string> = new Set([
  "answers",
  "backend",
  "category",
  "code",
  "generation",
  "how",
  "id",
  "if",
  "kind",
  "level",
  "outcome",
  "owner",
  "reason",
  "request_type",
  "role",
  "signal",
  "stage",
  "state",
  "subtype",
  "timer",
  "type",
]);

/** Objects and lists of objects whose fields are ours. */
const OURS: ReadonlySet<string> = new Set([
  "around",
  "ask",
  "budget",
  "cumulative_usage",
  "entry",
  "error",
  "event",
  "failure",
  "if",
  "inputs",
  "job",
  "last_result",
  "last_turn_usage",
  "open",
  "queue",
  "turn",
  "usage",
  "wake",
  "wakes",
  "why",
]);

/** Names that the reducer looks for in what a message says. Any other name may itself be something that was said. */
const SHAPE: ReadonlySet<string> = new Set(["content", "role", "text", "type"]);

/** An agent can send what is nested too deep to be written. */
const MAX_DEPTH = 8;

/** For one recording: a key of a client is told by a number, so that it is known when it comes again. */
export function createScrub(): (value: object) => object {
  const keys = new Map<string, number>();
  const keyName = (key: string): string => {
    const number = keys.get(key) ?? keys.size + 1;
    keys.set(key, number);
    return `(key ${number})`;
  };

  function ours(value: object, isTop: boolean): object {
    const fields = Object.entries(value).map(([name, part]) => {
      if (name === "key" && typeof part === "string") return [name, keyName(part)];
      // At the top it is a message for the queue; in an event it is what a tool is given.
      const isOurs = OURS.has(name) || (isTop && name === "input");
      if (Array.isArray(part)) return [name, part.map((item) => field(name, item, isOurs))];
      return [name, field(name, part, isOurs)];
    });
    return Object.fromEntries(fields);
  }

  function field(name: string, value: unknown, isOurs: boolean): unknown {
    if (typeof value === "string") return KEPT.has(name) || name.endsWith("_id") ? value : lengthOf(value);
    if (typeof value !== "object" || value === null) return value;
    return isOurs ? ours(value, false) : foreign(value);
  }

  return (value) => ours(value, true);
}

function foreign(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return lengthOf(value);
  if (typeof value === "number") return 0;
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return "(more)";
  if (Array.isArray(value)) return value.map((item) => foreign(item, depth + 1));
  const fields = Object.entries(value).map(([name, part], index) => [
    SHAPE.has(name) ? name : `(field ${index + 1})`,
    foreign(part, depth + 1),
  ]);
  return Object.fromEntries(fields);
}

function lengthOf(text: string): string {
  return `(${text.length} characters)`;
}
