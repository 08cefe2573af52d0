// Lets claude forget turns. It removes one message with all that follows, and only its newest message (2.1.197 to 2.1.327),
// so turns are removed from the newest to the oldest. Their messages have the ids that we gave them.
import { waitAtMost } from "../../base/child.ts";
import type { ControlChannel } from "../../base/claude-wire/control.ts";
import { asText, defined } from "../../base/values.ts";
import type { Rewound } from "../types.ts";
import { toMessageId } from "./message-ids.ts";

/** It waits up to 10 s for a turn that is just ending. */
const LIMIT_MS = 15_000;
const UNKNOWN = "target not found";

const REASONS: ReadonlyMap<string, string> = new Map([
  [UNKNOWN, "claude does not know this turn: it started it itself, or has forgotten it already"],
  ["stale target", "claude has received messages since that are not part of these turns"],
  ["no preceding assistant", "this version of claude cannot forget its first turn"],
]);

export async function rewindTurns(
  control: Pick<ControlChannel, "request">,
  turns: readonly string[],
): Promise<Rewound> {
  let first: string | undefined;
  for (const turn of turns.toReversed()) {
    const refusal = await forget(control, turn);
    if (refusal === undefined) first = turn;
    // One that claude started itself goes with the one before it.
    else if (refusal !== UNKNOWN || turn === turns[0])
      return { ...defined({ first }), reason: REASONS.get(refusal) ?? `claude: ${refusal}` };
  }
  return defined({ first });
}

/** Undefined if it was removed. */
async function forget(control: Pick<ControlChannel, "request">, turn: string): Promise<string | undefined> {
  const target_message_uuid = toMessageId(turn);
  if (target_message_uuid === undefined) return UNKNOWN;
  // Its result comes a moment before it is idle; with this it waits for that.
  const request = { subtype: "rewind_conversation", target_message_uuid, interrupt_if_running: true };
  const answer = await waitAtMost(LIMIT_MS, control.request(request));
  if (answer === undefined) return "it did not answer in time";
  if (!answer.ok) return answer.error;
  return answer.response["rewound"] === true
    ? undefined
    : (asText(answer.response["error"]) ?? "no reason given");
}
