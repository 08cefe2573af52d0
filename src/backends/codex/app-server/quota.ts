// Asks Codex for the limits of its account; it also reports them with every model call (notices.ts).
import { toMessage } from "../../../base/coded-error.ts";
import { asObject } from "../../../base/values.ts";
import type { ThreadRunParts } from "./keep.ts";
import { translateLimits } from "./notices.ts";

const LIMIT_MS = 15_000;

/** False: they are not known. */
export async function readQuota({ lane, state, sink, log }: ThreadRunParts): Promise<boolean> {
  try {
    const result = await lane.request("account/rateLimits/read", {}, LIMIT_MS);
    for (const event of translateLimits(state, asObject(result))) sink.event(event);
    return true;
  } catch (error) {
    // An account with an API key has no such limits.
    log.info("codex.quota_unknown", { message: toMessage(error) });
    return false;
  }
}
