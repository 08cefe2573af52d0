// What the screen is told of a local session: its events as frames, its state, its queue, what waits for an answer, and
// what we have to say ourselves.
import type { WireFrame } from "../../../client/frames.ts";
import type { RequestRow, ViewInput } from "../../../client/view/types.ts";
import type { QueuedMessage } from "../../../protocol/queue.ts";
import type { RuntimeEvent } from "../../../runtime/events.ts";
import type { TurnReport } from "../../../runtime/session-types.ts";
import type { Settings } from "../settings.ts";
import { BACKEND, EventFrames, turnEnded, turnStarted } from "./event-frames.ts";
import { Outlet } from "./outlet.ts";
import { type Around, SessionState } from "./session-state.ts";

export class Feed {
  readonly #outlet = new Outlet();
  readonly #frames = new EventFrames();
  readonly #state: SessionState;
  readonly #around: () => Around;

  constructor(session_id: string, around: () => Around) {
    this.#state = new SessionState(session_id);
    this.#around = around;
  }

  start(listener: (inputs: readonly ViewInput[]) => void): void {
    this.#outlet.start(listener);
    this.#outlet.tell({ kind: "link", state: "live" });
  }

  close(): void {
    this.#state.close();
    this.#outlet.close();
  }

  /** The name that the newest call with this id of the model has on the screen. */
  nameOf(callId: string): string {
    return this.#frames.nameOf(callId);
  }

  see(event: RuntimeEvent): void {
    for (const frame of this.#frames.translate(event)) this.#frame(frame, event.ts);
    if (this.#state.see(event)) this.state();
  }

  say(level: "info" | "warn" | "error", text: string): void {
    this.#outlet.tell({ kind: "local", level, text, at_ms: Date.now() });
  }

  /** Who it is now, and where. */
  introduce({ provider, model, agent }: Settings): void {
    const frame: WireFrame = {
      type: "agent.system_init",
      backend: BACKEND,
      cwd: this.#around().cwd,
      ...(model.value === "" ? {} : { model: model.value }),
      capabilities: { agent: agent.value, provider: provider.value },
    };
    this.#frame(frame, Date.now());
    this.state();
  }

  turnBegan(): void {
    const { turn_id, started_at_ms } = this.#state.begin(Date.now());
    this.#frame(turnStarted(turn_id, started_at_ms), started_at_ms);
    this.state();
  }

  turnEnded(report: TurnReport): void {
    const turn = this.#state.end(report);
    const nowMs = Date.now();
    if (turn !== undefined) {
      for (const frame of turnEnded(report, turn.turn_id, nowMs - turn.started_at_ms)) {
        this.#frame(frame, nowMs);
      }
    }
    this.state();
  }

  queue(messages: readonly QueuedMessage[]): void {
    this.#outlet.tell({ kind: "queue", queue: [...messages] });
    this.state();
  }

  /** Something waits for an answer, or waits no more. */
  request(row: RequestRow): void {
    this.#frame(this.#frames.request(row), Date.now());
    this.state();
  }

  /** The session as a manager would see it. */
  state(): void {
    this.#outlet.tell({ kind: "session", session: this.#state.view(this.#around()) });
  }

  #frame(frame: WireFrame, at_ms: number): void {
    this.#outlet.tell({ kind: "frame", seq: null, frame, at_ms });
  }
}
