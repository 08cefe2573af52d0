// A daemon session for the session screen: events come from the view source, actions go over HTTP.
import { defined } from "../../base/values.ts";
import type { AgentCommand, FilesReply, InputBody } from "../../client/http/types.ts";
import type { HttpClient } from "../../client/http.ts";
import type { ChangesPort } from "../../client/view/change-source.ts";
import type { ViewPort } from "../../client/view/port.ts";
import { openSource, type Source } from "../../client/view/source.ts";
import type { Answer, RequestRow, ViewInput } from "../../client/view/types.ts";
import { FRAME_MS } from "../app.ts";
import type { Delivery, DriverCommand, Picker, SessionDriver } from "../types.ts";
import { answerRequest } from "./answer-request.ts";
import { createDaemonCommands } from "./commands.ts";
import { createSettingCommands, createSettingPickers } from "./settings.ts";

export interface SessionDriverOptions {
  http: HttpClient;
  session_id: string;
  /** Initial name in the header. */
  title?: string;
  at_seq?: number;
  /** Source of events; default: over `http`. */
  port?: ViewPort;
}

export function createSessionDriver(options: SessionDriverOptions): SessionDriver {
  return new DaemonSession(options);
}

class DaemonSession implements SessionDriver {
  readonly session_id: string;
  readonly title: string;
  readonly at_seq?: number;
  readonly commands: readonly DriverCommand[];
  readonly pickers: readonly Picker[];
  readonly requestFocus = "asked";
  readonly changes: ChangesPort;
  readonly #http: HttpClient;
  readonly #port: ViewPort;
  #source: Source | undefined;

  constructor({ http, session_id, title, port, at_seq }: SessionDriverOptions) {
    if (at_seq !== undefined) this.at_seq = at_seq;
    this.session_id = session_id;
    this.title = title ?? session_id;
    this.#http = http;
    this.#port = port ?? http.withoutRetry();
    this.changes = {
      list: (query) => http.sessionChanges(session_id, query),
      file: (query) => http.fileChanges(session_id, query),
      undo: (order) => http.undo(session_id, order),
    };
    const say = (text: string, level: "info" | "warn" = "info"): void => this.#say(text, level);
    const context = { http, session_id, say };
    this.commands = [...createDaemonCommands(context), ...createSettingCommands(context)];
    this.pickers = createSettingPickers(context);
  }

  start(listener: (inputs: readonly ViewInput[]) => void): void {
    this.#source = openSource(this.#port, this.session_id, listener, {
      tickMs: FRAME_MS,
      ...defined({ at_seq: this.at_seq }),
    });
  }

  async send(text: string, how: Delivery = "queue"): Promise<string | undefined> {
    const { note } = await this.#http.input(this.session_id, { text, ...toDelivery(how) });
    return note;
  }

  async interrupt(): Promise<void> {
    await this.#http.interrupt(this.session_id);
  }

  async respond(request: RequestRow, answer: Answer): Promise<void> {
    const { notice, late } = await answerRequest(this.#http, request, answer);
    if (notice !== undefined) this.#say(notice, "warn");
    if (late !== undefined) this.#say(late, "warn");
  }

  wholeRequest({ session_id, request_id }: RequestRow): Promise<RequestRow> {
    return this.#port.request(session_id, request_id);
  }

  findFiles(match: string): Promise<FilesReply> {
    return this.#http.files(this.session_id, { match });
  }

  async agentCommands(): Promise<readonly AgentCommand[]> {
    return (await this.#http.settings(this.session_id)).commands ?? [];
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

function toDelivery(how: Delivery): Pick<InputBody, "now" | "delivery"> {
  if (how === "now") return { now: true };
  return how === "steer" ? { delivery: how } : {};
}
