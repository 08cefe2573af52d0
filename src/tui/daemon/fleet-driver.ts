// The daemon's sessions for the list, with the actions on them.

import { resolve } from "node:path";
import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { HttpClient } from "../../client/http.ts";
import { pollUntilDetected } from "../../client/view/detected.ts";
import { applyChanges, createFleet, type Fleet, type FleetInput } from "../../client/view/fleet.ts";
import { type FleetSource, openFleet } from "../../client/view/fleet-source.ts";
import type { ViewPort } from "../../client/view/port.ts";
import { shareChanges } from "../../client/view/share.ts";
import type { Answer, RequestRow } from "../../client/view/types.ts";
import type { SearchReply } from "../../protocol/search.ts";
import { FRAME_MS } from "../app.ts";
import type { LabelChange } from "../fleet/labels.ts";
import type { FleetDriver, OutsideDriver, SessionDriver } from "../types.ts";
import { answerRequest } from "./answer-request.ts";
import { createSessionDriver } from "./session-driver.ts";
import { createOutsideDriver } from "./transcript-driver.ts";

/** The demo agent comes last. */
const LAST = "demo";
/** Found at once. */
const HITS = 40;

export function createFleetDriver(http: HttpClient): FleetDriver {
  return new DaemonFleet(http);
}

class DaemonFleet implements FleetDriver {
  readonly outside: OutsideDriver;
  readonly #http: HttpClient;
  readonly #port: ViewPort;
  #fleet: Fleet = createFleet();
  #source: FleetSource | undefined;

  constructor(http: HttpClient) {
    this.#http = http;
    this.#port = shareChanges(http.withoutRetry());
    this.outside = createOutsideDriver(http);
  }

  start(listener: (fleet: Fleet) => void): void {
    const onInputs = (inputs: readonly FleetInput[]): void => {
      this.#fleet = applyChanges(this.#fleet, inputs);
      listener(this.#fleet);
    };
    this.#source = openFleet(this.#port, onInputs, { tickMs: FRAME_MS });
  }

  open(session_id: string, at_seq?: number): SessionDriver {
    const { name, title } = this.#fleet.sessions.get(session_id) ?? {};
    const called = name ?? title;
    return createSessionDriver({
      http: this.#http,
      port: this.#port,
      session_id,
      ...defined({ title: called, at_seq }),
    });
  }

  search({ text, after }: { text: string; after?: string }, signal: AbortSignal): Promise<SearchReply> {
    return this.#http.search({ q: text, limit: HITS, ...defined({ after }) }, signal);
  }

  async backends(): Promise<readonly string[]> {
    const { backends } = await pollUntilDetected<{ backends?: unknown }>(() => this.#http.status());
    // The daemon lists it only if it found no other, but it is always available.
    return [...Object.keys(backends ?? {}).filter((name) => name !== LAST), LAST];
  }

  /** Like `sm spawn` without flags. With an empty prompt the session waits for its first message. */
  async spawn(order: {
    backend: string;
    prompt: string;
    cwd: string;
    name?: string;
    worktree?: true;
  }): Promise<string> {
    const { backend, prompt, cwd, name, worktree } = order;
    const { session } = await this.#http.spawn({
      backend,
      cwd: resolve(cwd),
      ...(prompt === "" ? {} : { prompt }),
      ...(name === undefined || name === "" ? {} : { name }),
      ...(worktree === true ? { worktree: {} } : {}),
    });
    return session.session_id;
  }

  async respond(request: RequestRow, answer: Answer): Promise<string | undefined> {
    const { notice, late } = await answerRequest(this.#http, request, answer);
    if (late !== undefined) throw new CodedError("already_answered", late);
    return notice;
  }

  wholeRequest({ session_id, request_id }: RequestRow): Promise<RequestRow> {
    return this.#port.request(session_id, request_id);
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

  async changeLabels(session_id: string, change: LabelChange): Promise<void> {
    await this.#http.change(session_id, change);
  }

  async archive(session_id: string, archived: boolean): Promise<void> {
    await this.#http.change(session_id, { archived });
  }

  async close(): Promise<void> {
    await this.#source?.close();
  }
}
