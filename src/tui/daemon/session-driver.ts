// A daemon session for the session screen: events come from the view source, actions go over HTTP.
import type { HttpClient } from "../../client/http.ts";
import type { ChangesPort } from "../../client/view/change-source.ts";
import type { ViewPort } from "../../client/view/port.ts";
import { openSource, type Source } from "../../client/view/source.ts";
import type { Answer, RequestRow, ViewInput } from "../../client/view/types.ts";
import { FRAME_MS } from "../app.ts";
import type { DriverCommand, SessionDriver } from "../types.ts";
import { createDaemonCommands } from "./commands.ts";

export interface SessionDriverOptions {
  http: HttpClient;
  session_id: string;
  /** Initial name in the header. */
  title?: string;
  /** Source of events; default: over `http`. */
  port?: ViewPort;
}

export function createSessionDriver(options: SessionDriverOptions): SessionDriver {
  return new DaemonSession(options);
}

class DaemonSession implements SessionDriver {
  readonly session_id: string;
  readonly title: string;
  readonly commands: readonly DriverCommand[];
  readonly pickers = [];
  readonly requestFocus = "asked";
  readonly changes: ChangesPort;
  readonly #http: HttpClient;
  readonly #port: ViewPort;
  #source: Source | undefined;

  constructor({ http, session_id, title, port }: SessionDriverOptions) {
    this.session_id = session_id;
    this.title = title ?? session_id;
    this.#http = http;
    this.#port = port ?? http.withoutRetry();
    this.changes = {
      list: (query) => http.sessionChanges(session_id, query),
      file: (query) => http.fileChanges(session_id, query),
    };
    this.commands = createDaemonCommands({
      http,
      session_id,
      say: (text, level = "info") => this.#say(text, level),
    });
  }

  start(listener: (inputs: readonly ViewInput[]) => void): void {
    this.#source = openSource(this.#port, this.session_id, listener, { tickMs: FRAME_MS });
  }

  async send(text: string, { isNow = false } = {}): Promise<void> {
    await this.#http.input(this.session_id, { text, ...(isNow ? { now: true } : {}) });
  }

  async interrupt(): Promise<void> {
    await this.#http.interrupt(this.session_id);
  }

  async respond({ request_id, session_id, shown_hash }: RequestRow, answer: Answer): Promise<void> {
    const { repeated, request, notice } = await this.#http.respond(session_id, request_id, answer, {
      shown_hash,
      source: "tui",
    });
    if (notice !== undefined) this.#say(notice, "warn");
    if (!repeated) return;
    const { answer: before } = request;
    const what = before !== undefined && "decision" in before ? ` (${before.decision})` : "";
    this.#say(`already answered${what}; the first answer counts`, "warn");
  }

  wholeRequest({ session_id, request_id }: RequestRow): Promise<RequestRow> {
    return this.#port.request(session_id, request_id);
  }

  async cancelQueued(message_id: string): Promise<void> {
    await this.#http.cancelInput(this.session_id, message_id);
  }

  async loadEarlier(kept_from?: number): Promise<boolean> {
    return (await this.#source?.loadEarlier(kept_from)) ?? false;
  }

  async close(): Promise<void> {
    await this.#source?.close();
  }

  #say(text: string, level: "info" | "warn"): void {
    this.#source?.addLine({ kind: "local", level, text, at_ms: Date.now() });
  }
}
