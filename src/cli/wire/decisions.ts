// The user's decisions about tool calls of the current turn, and the time they took: a declined call did not fail, and
// waiting for the user does not count as the agent's time.
import { endWait, NO_WAIT, startWait, waitedMs } from "../../base/wait-clock.ts";
import { readRequest, type SessionFrame } from "../../client/index.ts";
import { findNotRunReason, type NotRunReason, toVerdict, type Verdict } from "../../protocol/not-run.ts";

export class Decisions {
  /** By call and request. */
  readonly #verdicts = new Map<string, Map<string, Verdict>>();
  /** A settled request no longer names its call. */
  readonly #calls = new Map<string, string>();
  #waits = NO_WAIT;

  see(frame: SessionFrame): void {
    if (frame.type === "agent.result") this.#forget();
    const news = readRequest(frame);
    if (news === undefined) return;
    const { request_id } = news;
    if (news.status === "pending") {
      if (news.item_id !== undefined) this.#calls.set(request_id, news.item_id);
      this.#waits = startWait(this.#waits, request_id, news.requested_at_ms);
    } else this.#waits = endWait(this.#waits, request_id, news.resolved_at_ms ?? Date.now());
    const call = this.#calls.get(request_id);
    if (call === undefined) return;
    const verdicts = this.#verdicts.get(call) ?? new Map<string, Verdict>();
    this.#verdicts.set(call, verdicts.set(request_id, toVerdict(news)));
  }

  /** Why a failed call did not run; undefined if it did. */
  notRun(tool_use_id: string, output: unknown): NotRunReason | undefined {
    const cause = output === "interrupted" ? "interrupted" : "withdrawn";
    return findNotRunReason(this.#verdicts.get(tool_use_id)?.values() ?? [], cause);
  }

  /** The part of a turn's duration that the agent worked. */
  workedMs(durationMs: number): number {
    return Math.max(0, durationMs - waitedMs(this.#waits, Date.now()));
  }

  #forget(): void {
    this.#verdicts.clear();
    this.#calls.clear();
    this.#waits = NO_WAIT;
  }
}
