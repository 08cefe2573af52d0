// Reports pending requests again, each time a certain time has passed since they were asked.
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";

/** `number`: how often the request was due for a reminder, from 1. */
type Remind = (row: SessionRow, request: RequestRow, number: number) => void;

export class Reminders {
  readonly #everyMs: number;
  readonly #now: () => number;
  readonly #remind: Remind;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  /** `everyMs`: for sessions without their own `remind_s`; 0: never. */
  constructor(everyMs: number, now: () => number, remind: Remind) {
    this.#everyMs = everyMs;
    this.#now = now;
    this.#remind = remind;
  }

  start(row: SessionRow, request: RequestRow): void {
    const everyMs = row.remind_s === undefined ? this.#everyMs : row.remind_s * 1000;
    this.stop(request.request_id);
    if (everyMs > 0) this.#schedule(row, request, { everyMs, last: 0 });
  }

  #schedule(
    row: SessionRow,
    request: RequestRow,
    { everyMs, last }: { everyMs: number; last: number },
  ): void {
    // Those missed while no daemon ran, or the machine slept, are not made up for. A timer may be a little early.
    const waitedMs = Math.max(0, this.#now() - request.requested_at_ms);
    const number = Math.max(Math.floor(waitedMs / everyMs), last) + 1;
    const timer = setTimeout(
      () => {
        this.#remind(row, request, number);
        this.#schedule(row, request, { everyMs, last: number });
      },
      Math.min(number * everyMs - waitedMs, everyMs + 1),
    );
    timer.unref();
    this.#timers.set(request.request_id, timer);
  }

  stop(request_id: string): void {
    clearTimeout(this.#timers.get(request_id));
    this.#timers.delete(request_id);
  }

  close(): void {
    for (const request_id of [...this.#timers.keys()]) this.stop(request_id);
  }
}
