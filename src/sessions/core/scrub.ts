// What may be told of an input in a bug report: its shape, ids, codes and numbers, never what people, agents or options
// say. A text becomes its length.

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
  "status",
  "subtype",
  "timer",
  "type",
]);

/** In these anything may stand, whatever its fields are called. */
const OPAQUE: ReadonlySet<string> = new Set([
  "content",
  "input",
  "message",
  "native",
  "options",
  "output",
  "payload",
]);

export function scrub(value: unknown): unknown {
  return scrubbed(value, "", false);
}

function scrubbed(value: unknown, key: string, isOpaque: boolean): unknown {
  if (typeof value === "string") return !isOpaque && isKept(key) ? value : `(${value.length} characters)`;
  if (Array.isArray(value)) return value.map((item) => scrubbed(item, key, isOpaque));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      scrubbed(part, name, isOpaque || isForeign(name, part)),
    ]),
  );
}

function isKept(key: string): boolean {
  return KEPT.has(key) || key.endsWith("_id");
}

/** `input` is also what we call a message of the queue, whose fields are ours. */
function isForeign(name: string, part: unknown): boolean {
  return (
    OPAQUE.has(name) &&
    !(name === "input" && typeof part === "object" && part !== null && "message_id" in part)
  );
}
