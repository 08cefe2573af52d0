// The sink of a run that is being adopted: to the past until it is opened, then to the live session.
import type { BackendSink } from "./types.ts";

export class SinkGate implements BackendSink {
  #to: BackendSink;

  constructor(past: BackendSink) {
    this.#to = past;
  }

  open(live: BackendSink): void {
    this.#to = live;
  }

  event: BackendSink["event"] = (event) => this.#to.event(event);
  ending: NonNullable<BackendSink["ending"]> = () => this.#to.ending?.();
  used: NonNullable<BackendSink["used"]> = (used) => this.#to.used?.(used);
  steered: NonNullable<BackendSink["steered"]> = (message_id, how) => this.#to.steered?.(message_id, how);
  turnStarted: BackendSink["turnStarted"] = () => this.#to.turnStarted();
  stderr: BackendSink["stderr"] = (line) => this.#to.stderr(line);
  authFailed: BackendSink["authFailed"] = (message) => this.#to.authFailed(message);
  calmed: BackendSink["calmed"] = () => this.#to.calmed();
  ask: BackendSink["ask"] = (ask) => this.#to.ask(ask);
  toolCalled: NonNullable<BackendSink["toolCalled"]> = (call) => this.#to.toolCalled?.(call);
  withdrawn: BackendSink["withdrawn"] = (native_id, reason) => this.#to.withdrawn(native_id, reason);
  nativeId: BackendSink["nativeId"] = (id) => this.#to.nativeId(id);
  ended: BackendSink["ended"] = (why) => this.#to.ended(why);
}
