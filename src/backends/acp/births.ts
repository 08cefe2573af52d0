// Creation times of sessions. Needed for agents that destroy a session loaded in the same wall-clock minute it was
// created: gemini (0.61.0) names its file by minute and overwrites it.

import type { JsonObject } from "../../base/json.ts";
import { asObject } from "../../base/values.ts";

const MINUTE_MS = 60_000;
/** So that the next minute has started for the agent too. */
const MARGIN_MS = 500;
/** How long an agent may take from its start until it creates the session (many seconds on a loaded machine). */
const SLOWEST_START_MS = 60_000;
const LOADS_LATE: ReadonlySet<unknown> = new Set(["gemini-cli"]);

export class Births {
  readonly #made = new Map<string, number>();
  readonly #sinceMs: number;

  /** `nowMs`: sessions we do not know are older than this. */
  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  note(sessionId: string, nowMs: number): void {
    for (const [id, madeMs] of this.#made) if (toMinute(madeMs) < toMinute(nowMs)) this.#made.delete(id);
    this.#made.set(sessionId, nowMs);
  }

  /**
   * How long a load must wait; 0 for other agents. `intro`: the agent's self-description. `startedMs`: when the session
   * was opened, from its row; with an earlier daemon, the agent may have created the session later.
   */
  waitMs(intro: JsonObject, sessionId: string, nowMs: number, startedMs?: number): number {
    if (!LOADS_LATE.has(asObject(intro["agentInfo"])["name"])) return 0;
    const latestMs = this.#made.get(sessionId) ?? this.#latestMs(startedMs);
    if (toMinute(latestMs) < toMinute(nowMs)) return 0;
    return MINUTE_MS - (nowMs % MINUTE_MS) + MARGIN_MS;
  }

  /** The latest time at which another daemon's agent can have created it. */
  #latestMs(startedMs: number | undefined): number {
    return startedMs === undefined ? this.#sinceMs : Math.min(this.#sinceMs, startedMs + SLOWEST_START_MS);
  }
}

function toMinute(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}
