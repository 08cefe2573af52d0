// When sessions were made, for an agent that destroys one which it loads in the wall-clock minute of its making: gemini
// (0.61.0) names its file by minute, and opens it anew.
import type { JsonObject } from "../../base/json.ts";
import { objectOf } from "../values.ts";

const MINUTE_MS = 60_000;
/** So that the next minute has surely begun there too. */
const MARGIN_MS = 500;
/** How long an agent may take from its start until it makes the session (on a loaded machine: many seconds). */
const SLOWEST_START_MS = 60_000;
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
   * session was opened, as its row says; if a daemon before this one did it, the agent may have made the session later.
   */
  waitMs(intro: JsonObject, sessionId: string, nowMs: number, startedMs?: number): number {
    if (!LOADS_LATE.has(objectOf(intro["agentInfo"])["name"])) return 0;
    const latestMs = this.#made.get(sessionId) ?? this.#latestMs(startedMs);
    if (minuteOf(latestMs) < minuteOf(nowMs)) return 0;
    return MINUTE_MS - (nowMs % MINUTE_MS) + MARGIN_MS;
  }

  /** The latest moment at which another daemon's agent can have made it. */
  #latestMs(startedMs: number | undefined): number {
    return startedMs === undefined ? this.#sinceMs : Math.min(this.#sinceMs, startedMs + SLOWEST_START_MS);
  }
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}
