// All sessions of the daemon for the list, and whatever can be done to one of them there.
import { resolve } from "node:path";
import type { HttpClient } from "../../client/http.ts";
import { untilDetected } from "../../client/view/detected.ts";
import { applyChanges, emptyFleet, type Fleet } from "../../client/view/fleet.ts";
import { type FleetSource, openFleet } from "../../client/view/fleet-source.ts";
import type { ViewPort } from "../../client/view/port.ts";
import { shareChanges } from "../../client/view/share.ts";
import type { FleetDriver, SessionDriver } from "../types.ts";
import { createSessionDriver } from "./session-driver.ts";

/** Only shows how it is: real agents come before it. */
const LAST = "demo";

export function createFleetDriver(http: HttpClient): FleetDriver {
  return new DaemonFleet(http);
}

class DaemonFleet implements FleetDriver {
  readonly #http: HttpClient;
  readonly #port: ViewPort;
  #fleet: Fleet = emptyFleet();
  #source: FleetSource | undefined;

  constructor(http: HttpClient) {
    this.#http = http;
    this.#port = shareChanges(http.withoutRetry());
  }

  start(listener: (fleet: Fleet) => void): void {
    this.#source = openFleet(this.#port, (inputs) => {
      this.#fleet = applyChanges(this.#fleet, inputs);
      listener(this.#fleet);
    });
  }

  open(session_id: string): SessionDriver {
    const { name, title } = this.#fleet.sessions.get(session_id) ?? {};
    const called = name ?? title;
    return createSessionDriver({
      http: this.#http,
      port: this.#port,
      session_id,
      ...(called === undefined ? {} : { title: called }),
    });
  }

  async backends(): Promise<readonly string[]> {
    const { backends } = await untilDetected<{ backends?: unknown }>(() => this.#http.status());
    // The daemon names it only when it found no other, but it is always there.
    return [...Object.keys(backends ?? {}).filter((name) => name !== LAST), LAST];
  }

  /** As `sm spawn` without flags: it asks before it acts. An empty prompt: it waits for its first message. */
  async spawn(order: { backend: string; prompt: string; cwd: string; name?: string }): Promise<string> {
    const { backend, prompt, cwd, name } = order;
    const { session } = await this.#http.spawn({
      backend,
      cwd: resolve(cwd),
      ...(prompt === "" ? {} : { prompt }),
      ...(name === undefined || name === "" ? {} : { name }),
    });
    return session.session_id;
  }

  async interrupt(session_id: string): Promise<void> {
    await this.#http.interrupt(session_id);
  }

  async stop(session_id: string): Promise<void> {
    await this.#http.stop(session_id);
  }

  async remove(session_id: string): Promise<void> {
    await this.#http.remove(session_id);
  }

  async rename(session_id: string, name: string): Promise<void> {
    await this.#http.rename(session_id, name === "" ? null : name);
  }

  async close(): Promise<void> {
    await this.#source?.close();
  }
}
