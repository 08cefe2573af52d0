// Redacts an input for a bug report: keeps its shape, ids, codes and numbers, and replaces all text from users, agents
// and options by its length. Only known structures are kept; anything else is opaque.

/** Fields whose text is ours, or an id. */
const KEPT: ReadonlySet<string> = new Set([
  "answers",
  "backend",
  "call",
  "category",
  "code",
  "first",
  "generation",
  "how",
  "id",
  "if",
  "kind",
  "level",
  "origin",
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

/** Objects, and lists of objects, whose fields are ours. */
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
  "largest",
  "last_turn_usage",
  "open",
  "openTools",
  "outcome",
  "queue",
  "removed_spending",
  "run",
  "spent",
  "stored",
  "turn",
  "turns",
  "undelivered",
  "usage",
  "used",
  "wake",
  "wakes",
  "why",
]);

/** Field names the reducer reads in message content. Any other name may itself be private. */
const SHAPE: ReadonlySet<string> = new Set(["content", "role", "text", "type"]);

/** Agents can send values nested too deeply to serialize. */
const MAX_DEPTH = 8;

/** Per recording: replaces each client key by a number, so that a repeated key is recognized. */
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
      // At the top level it is a queued message; in an event it is a tool's input.
      const isOurs = OURS.has(name) || (isTop && name === "input");
      if (Array.isArray(part)) return [name, part.map((item) => field(name, item, isOurs))];
      return [name, field(name, part, isOurs)];
    });
    return Object.fromEntries(fields);
  }

  function field(name: string, value: unknown, isOurs: boolean): unknown {
    if (typeof value === "string")
      return KEPT.has(name) || name.endsWith("_id") ? value : describeLength(value);
    if (typeof value !== "object" || value === null) return value;
    return isOurs ? ours(value, false) : foreign(value);
  }

  return (value) => ours(value, true);
}

function foreign(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return describeLength(value);
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

function describeLength(text: string): string {
  return `(${text.length} characters)`;
}
