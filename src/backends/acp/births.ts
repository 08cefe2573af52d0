// When sessions were made, for an agent that destroys one which it loads in the wall-clock minute of its making: gemini
// (0.61.0) names its file by minute, and opens it anew.
import type { JsonObject } from "../../base/json.ts";
import { objectOf } from "../values.ts";

const MINUTE_MS = 60_000;
/** So that the next minute has surely begun there too. */
const MARGIN_MS = 500;
const LOADS_LATE: ReadonlySet<unknown> = new Set(["gemini-cli"]);

export class Births {
  readonly #made = new Map<string, number>();
  readonly #sinceMs: number;

  /** `nowMs`: what we do not know of was made before. */
  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  note(sessionId: string, nowMs: number): void {
    for (const [id, madeMs] of this.#made) if (minuteOf(madeMs) < minuteOf(nowMs)) this.#made.delete(id);
    this.#made.set(sessionId, nowMs);
  }

  /**
   * How long a load must wait; 0 for other agents. `intro`: what the agent said about itself. `startedMs`: when the
   * session was made, as its row says; a daemon before this one may have done it.
   */
  waitMs(intro: JsonObject, sessionId: string, nowMs: number, startedMs = this.#sinceMs): number {
    if (!LOADS_LATE.has(objectOf(intro["agentInfo"])["name"])) return 0;
    const madeMs = this.#made.get(sessionId) ?? startedMs;
    if (minuteOf(madeMs) !== minuteOf(nowMs)) return 0;
    return MINUTE_MS - (nowMs % MINUTE_MS) + MARGIN_MS;
  }
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}
