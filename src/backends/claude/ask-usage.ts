// Asks claude for the limits of its account, without a turn.
import { randomUUID } from "node:crypto";
import { waitAtMost } from "../../base/child.ts";
import type { ControlChannel } from "../../base/claude-wire/control.ts";
import type { NoticeEvent } from "../../protocol/events.ts";
import { translateUsage } from "./limits.ts";

/** Claude asks Anthropic. */
const LIMIT_MS = 15_000;
const ID = "blemees-usage";

/** Undefined: this account has no such limits, or nothing is known of them. */
export async function askUsage(control: ControlChannel): Promise<NoticeEvent | undefined> {
  // Not numbered: a daemon that adopts this process does not ask again.
  const asked = control.request({ subtype: "get_usage" }, `${ID}-${randomUUID()}`);
  const answer = await waitAtMost(LIMIT_MS, asked);
  return answer?.ok === true ? translateUsage(answer.response) : undefined;
}
