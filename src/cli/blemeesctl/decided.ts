// What people decided about the tool calls of the current turn, and how long they took: a call that nobody allowed did
// not fail, and waiting for a person is not the agent's time.
import { endWait, NO_WAIT, startWait, waitedMs } from "../../base/wait-clock.ts";
import { requestOf, type SessionFrame } from "../../client/index.ts";
import { type NotRunReason, notRunReason, type Verdict, verdictOf } from "../../protocol/not-run.ts";

export class Decided {
  /** By the call and the request. */
  readonly #verdicts = new Map<string, Map<string, Verdict>>();
  /** A settled request no longer names its call. */
  readonly #calls = new Map<string, string>();
  #waits = NO_WAIT;

  see(frame: SessionFrame): void {
    if (frame.type === "agent.result") this.#forget();
    const news = requestOf(frame);
    if (news === undefined) return;
    const { request_id } = news;
    if (news.status === "pending") {
      if (news.item_id !== undefined) this.#calls.set(request_id, news.item_id);
      this.#waits = startWait(this.#waits, request_id, news.requested_at_ms);
    } else this.#waits = endWait(this.#waits, request_id, news.resolved_at_ms ?? Date.now());
    const call = this.#calls.get(request_id);
    if (call === undefined) return;
    const verdicts = this.#verdicts.get(call) ?? new Map<string, Verdict>();
    this.#verdicts.set(call, verdicts.set(request_id, verdictOf(news)));
  }

  /** Why a call with a bad result did not run; undefined if it did. */
  notRun(tool_use_id: string, output: unknown): NotRunReason | undefined {
    const cause = output === "interrupted" ? "interrupted" : "withdrawn";
    return notRunReason(this.#verdicts.get(tool_use_id)?.values() ?? [], cause);
  }

  /** Of the time of a turn, what the agent itself took. */
  workedMs(durationMs: number): number {
    return Math.max(0, durationMs - waitedMs(this.#waits, Date.now()));
  }

  #forget(): void {
    this.#verdicts.clear();
    this.#calls.clear();
    this.#waits = NO_WAIT;
  }
}
