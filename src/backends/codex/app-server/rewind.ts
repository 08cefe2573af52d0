// Lets Codex forget turns: `thread/revert` removes one and all later ones (0.166.0; a lasting change). Codex's ids of turns
// are found by the names that we gave to their messages.

import { toMessage } from "../../../base/coded-error.ts";
import type { JsonObject } from "../../../base/json.ts";
import { RpcError } from "../../../base/jsonrpc.ts";
import { asObject, asObjects, asString, asText, defined } from "../../../base/values.ts";
import type { Rewound } from "../../types.ts";
import type { ThreadRunParts } from "./keep.ts";

type Thread = Pick<ThreadRunParts, "lane" | "reload"> & { state: Pick<ThreadRunParts["state"], "threadId"> };

const LIMIT_MS = 15_000;
const PAGE = 50;
/** A turn further back is not looked for. */
const MAX_PAGES = 40;
const UNKNOWN = "codex does not know this turn: it started it itself, or has forgotten it already";

/** A request about the thread, which Codex may have unloaded. */
export async function askThread(
  { lane, reload, state: { threadId } }: Thread,
  method: string,
  params: JsonObject,
  limitMs?: number,
): Promise<unknown> {
  const ask = () => lane.request(method, { threadId, ...params }, limitMs);
  return ask().catch(async (error: unknown) => {
    if (!(error instanceof RpcError) || !error.message.startsWith("thread not found")) throw error;
    await reload();
    return ask();
  });
}

export async function rewindThread(thread: Thread, turns: readonly string[]): Promise<Rewound> {
  try {
    const found = await findTurns(thread, turns);
    const first = turns.find((turn) => found.has(turn));
    if (first === undefined) return { reason: UNKNOWN };
    await askThread(thread, "thread/revert", { beforeTurnId: found.get(first) }, LIMIT_MS);
    return first === turns[0] ? { first } : { first, reason: UNKNOWN };
  } catch (error) {
    return { reason: `codex: ${toMessage(error)}` };
  }
}

/** Codex's ids, by ours; looks until the oldest is found. */
async function findTurns(thread: Thread, turns: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = { limit: PAGE, ...defined({ cursor }) };
    const result = asObject(await askThread(thread, "thread/turns/list", params, LIMIT_MS));
    for (const { id, items } of asObjects(result["data"])) {
      const names = asObjects(items).flatMap(({ clientId }) => asText(clientId) ?? []);
      const name = names.find((one) => turns.includes(one));
      const native = asString(id);
      if (name !== undefined && native !== undefined) found.set(name, native);
    }
    cursor = asText(result["nextCursor"]);
    if (cursor === undefined || found.has(turns[0] ?? "")) break;
  }
  return found;
}
