// Rules for every frame that the wire accepts, checked by other means than the code under test uses.
import { CLAUDE_ARGS, ClaudeOptions } from "../../src/backends/claude/options.ts";
import { isObject, MAX_DEPTH } from "../../src/base/json.ts";
import type { InboundType } from "../../src/protocol/wire/blemees2.ts";
import type { Request } from "../../src/servers/socket/dialect.ts";

const ID_TYPES: ReadonlySet<InboundType> = new Set<InboundType>([
  "blemeesd.open",
  "agent.user",
  "blemeesd.interrupt",
  "blemeesd.close",
  "blemeesd.watch",
  "blemeesd.unwatch",
  "blemeesd.session_info",
]);
/** Free text may begin with a dash: it is passed attached to its flag. */
const KIND_OF: ReadonlyMap<string, string> = new Map(CLAUDE_ARGS.map((row) => [row.option, row.kind]));

/** Throws if an accepted request is one that the daemon must not act on. */
export function inspectRequest(request: Request, options: Record<string, unknown> | undefined): void {
  const { type, frame } = request;
  if (frame["type"] !== type && type !== "agent.user") throw new Error(`${type} carries ${frame["type"]}`);
  const id = frame["session_id"];
  if (ID_TYPES.has(type) && !(typeof id === "string" && /^\w[\w.-]*$/.test(id) && id.length <= 128)) {
    throw new Error(`session_id ${JSON.stringify(id)} was accepted`);
  }
  if (type === "agent.user" && (!isObject(frame["message"]) || frame["message"]["role"] !== "user")) {
    throw new Error("a message that is not the user's was accepted");
  }
  const seen = frame["last_seen_seq"];
  if (seen !== undefined && !(Number.isSafeInteger(seen) && (seen as number) >= 0)) {
    throw new Error(`last_seen_seq ${String(seen)} was accepted`);
  }
  if (depthOf(JSON.parse(JSON.stringify(frame))) > MAX_DEPTH + 2) throw new Error("too deep, but accepted");
  if (options !== undefined) inspectOptions(options);
}

/** Nothing in the options may turn into a flag of its own or be cut short by a NUL. */
function inspectOptions(options: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(options)) {
    if (!Object.hasOwn(ClaudeOptions.shape, key)) throw new Error(`option ${key} was accepted`);
    const kind = KIND_OF.get(key);
    if (kind === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) {
      if (typeof item !== "string") continue;
      if (item.includes("\0")) throw new Error(`NUL was accepted in ${key}`);
      if (kind !== "text" && item.startsWith("-")) throw new Error(`${key} lets ${item} through`);
    }
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Throws if a prototype was assigned to: `in` sees such keys. */
export function checkPrototypes(): void {
  for (const key in EMPTY) throw new Error(`a prototype was polluted with ${key}`);
}

const EMPTY: unknown[] = [];
