// Takes the place of a session while `session/load` runs: the replayed conversation is already in our log and is discarded;
// everything else is kept for the session.
import { asObject } from "../../base/values.ts";
import type { AcpTenant } from "./router.ts";
import type { Clock } from "./spec.ts";
import type { Frame } from "./translate.ts";

export interface Kept {
  frame: Frame;
  size: number;
}

const REPEATED: ReadonlySet<unknown> = new Set([
  "user_message_chunk",
  "agent_message_chunk",
  "agent_thought_chunk",
  "tool_call",
  "tool_call_update",
  "plan",
]);
/** A replay that never ends must not block a session forever. */
const MAX_ROUNDS = 40;

export class Replay implements AcpTenant {
  readonly kept: Kept[] = [];
  #heard = 0;

  deliver(frame: Frame, size: number): void {
    this.#heard += 1;
    const isUpdate = frame.kind === "notification" && frame.method === "session/update";
    const kind = isUpdate ? asObject(frame.params["update"])["sessionUpdate"] : undefined;
    if (!REPEATED.has(kind)) this.kept.push({ frame, size });
  }

  /** gemini continues its replay after its answer: resolves when nothing has arrived for `quietMs`. */
  async quiet(quietMs: number, clock: Clock): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const heard = this.#heard;
      await clock.sleep(quietMs);
      if (heard === this.#heard) return;
    }
  }
}
