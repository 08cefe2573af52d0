// What an agent of the core's test world said and was asked, as its run directory keeps it: from this the next daemon
// continues with it, in the way of src/sessions/adopt.ts and src/backends/replay.ts.
import { Past } from "../../../src/sessions/agent/past.ts";
import type { AdoptedRun, Happening } from "../../../src/sessions/core/inputs.ts";

export type Item =
  | { kind: "said"; happening: Happening }
  | { kind: "call"; call: "send" | "interrupt"; turn_id?: string }
  | { kind: "call"; call: "steer"; message_id: string };

export interface Continued {
  run: Omit<AdoptedRun, "generation" | "open" | "stored">;
  /** What led to nothing stored. */
  left: Item[];
}

export class RunLog {
  #items: Item[] = [];
  /** Included in the snapshot; undefined before the first one. */
  #snapshot: { at: number; hasInit: boolean } | undefined;
  /** What came from the items before this place is stored. */
  #stored = 0;
  /** The agent refused a message, which is not repeated here. */
  isDoubtful = false;

  add(item: Item): void {
    this.#items.push(item);
  }

  /** Goes with the frames that are written now. */
  get mark(): number {
    return this.#items.length;
  }

  store(mark: number): void {
    this.#stored = Math.max(this.#stored, mark);
  }

  /** A snapshot, if the agent is at rest. Everything it said must be stored. */
  checkpoint(hasInit: boolean): void {
    if (this.turn !== undefined || this.#isBusy(this.#items)) return;
    this.#snapshot = { at: this.#items.length, hasInit };
    this.#stored = this.#items.length;
    this.isDoubtful = false;
  }

  get canContinue(): boolean {
    return this.#snapshot !== undefined && !this.isDoubtful;
  }

  /** The turn that the agent is in: with an id if it was given a message. */
  get turn(): { turn_id?: string } | undefined {
    let turn: { turn_id?: string } | undefined;
    for (const item of this.#items) {
      if (item.kind === "call" && item.call === "send") turn = { turn_id: item.turn_id ?? "" };
      if (item.kind !== "said") continue;
      if (item.happening.kind === "turn_started") turn ??= {};
      if (item.happening.kind === "steered" && item.happening.how === "next") turn ??= {};
      if (isResult(item.happening)) turn = undefined;
    }
    return turn;
  }

  /** The next daemon has only what is stored; it reads the rest again and adds it. */
  continue(): Continued {
    const { at, hasInit } = this.#snapshot ?? { at: 0, hasInit: false };
    const known = this.#items.slice(0, this.#stored);
    const left = this.#items.slice(this.#stored);
    this.#items = known;
    const past = new Past(hasInit);
    for (const item of known.slice(at)) tell(past, item);
    const { turn } = past;
    return {
      run: {
        isBusy: this.#isBusy(known),
        hasInit: past.hasInit,
        ...(turn === undefined ? {} : { turn }),
        isGiven: left.some((item) => item.kind === "call" && item.call === "send"),
        steers: [...past.steers, ...left.flatMap((item) => findSteer(item))],
        toRepeat: left.filter((item) => item.kind === "call" && item.call !== "steer").length,
      },
      left,
    };
  }

  #isBusy(items: readonly Item[]): boolean {
    const last = items.findLast((item) => item.kind === "said" && item.happening.kind === "busy");
    return last?.kind === "said" && last.happening.kind === "busy" && last.happening.isBusy;
  }
}

function tell(past: Past, item: Item): void {
  if (item.kind === "call")
    past.called({ n: 0, at: 0, at_ms: 0, session_id: "s", name: item.call, args: ["", ...findSteer(item)] });
  else if (item.happening.kind === "event") past.event(item.happening.event);
  else if (item.happening.kind === "turn_started") past.turnStarted();
  else if (item.happening.kind === "steered") past.steered(item.happening.message_id, item.happening.how);
}

function findSteer(item: Item): string[] {
  return item.kind === "call" && item.call === "steer" ? [item.message_id] : [];
}

function isResult(happening: Happening): boolean {
  return happening.kind === "event" && happening.event.type === "agent.result";
}
