// One session that a program drives as if it had started claude itself: claude's frames, the program's messages and control
// requests, and permissions, which the program and every other client of the daemon may answer. The first answer counts.

import type { ControlAnswer } from "../../base/claude-wire/control.ts";
import { readErrno, toMessage } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";
import { asObjects, asString } from "../../base/values.ts";
import type { HttpClient, RequestRow, SessionFrame, SettingsChange } from "../../client/index.ts";
import type { UserMessage } from "../../protocol/content.ts";
import { toClaudeFrame } from "../../protocol/wire/claude-view.ts";
import { readToolAnswer, toToolRequest } from "./permissions.ts";

export interface ProgramSessionParts {
  http: HttpClient;
  session_id: string;
  /** What happens in it, over restarts of the daemon too. */
  events: AsyncIterable<SessionFrame>;
  /** The last event before those. */
  since_seq: number;
  showsPartial: boolean;
  /** The program answers permissions. */
  answersRequests: boolean;
  /** Writes a frame to the program; waits while it does not read. */
  write(frame: JsonObject): Promise<void>;
  /** Sends a control request to the program, under this id. */
  ask(request: JsonObject, request_id: string): Promise<ControlAnswer>;
  note(text: string): void;
}

export class ProgramSession {
  readonly #parts: ProgramSessionParts;
  readonly #over = new AbortController();
  /** Hashes of the requests that the program was asked. */
  readonly #asked = new Map<string, string>();
  #servers: JsonObject[] = [];
  #seq: number;
  #wanted = 0;
  /** Called after every result. */
  #ended: () => void = () => undefined;
  /** Resolves when the session is no longer followed. */
  readonly followed: Promise<void>;

  constructor(parts: ProgramSessionParts) {
    this.#parts = parts;
    this.#seq = parts.since_seq;
    this.followed = this.#follow();
  }

  async send(message: UserMessage): Promise<void> {
    const { http, session_id } = this.#parts;
    await http.input(session_id, { message });
  }

  /** The response to a control request of the program. Throws for what a session cannot do. */
  async control(request: JsonObject): Promise<JsonObject> {
    const { http, session_id } = this.#parts;
    switch (request["subtype"]) {
      case "interrupt":
        await http.interrupt(session_id);
        return {};
      case "set_permission_mode":
        return this.#adjust({ permission_mode: String(request["mode"]) });
      case "set_model":
        return this.#adjust({ model: asString(request["model"]) ?? "default" });
      case "mcp_status":
        return { mcpServers: this.#servers };
      default:
        throw new Error(`blemees claude does not support ${String(request["subtype"])}`);
    }
  }

  /** Resolves when nothing is running or waiting, and everything has been written. */
  async untilIdle(): Promise<void> {
    const { http, session_id } = this.#parts;
    while (!this.#over.signal.aborted) {
      const ended = new Promise<void>((resolve) => {
        this.#ended = resolve;
      });
      const view = await http.session(session_id);
      if (view.turn === undefined && view.queued === 0 && this.#seq >= view.last_seq) return;
      await Promise.race([ended, this.followed]);
    }
  }

  /** Nothing is written from now on. */
  close(): void {
    this.#over.abort();
  }

  async #adjust(change: SettingsChange): Promise<JsonObject> {
    await this.#parts.http.adjust(this.#parts.session_id, change);
    return {};
  }

  async #follow(): Promise<void> {
    const { events, session_id, note } = this.#parts;
    this.#refreshRequests();
    try {
      for await (const frame of events) {
        if (this.#over.signal.aborted) break;
        if (frame.type === "blemeesd.replay_gap") note("some events are missing: they are no longer stored");
        if (frame.type === "blemeesd.session_taken" || frame.type === "blemeesd.session_closed") {
          note(
            `session ${session_id}: another client has ${frame.type === "blemeesd.session_taken" ? "taken" : "closed"} it`,
          );
          break;
        }
        await this.#take(frame);
        if ("seq" in frame) this.#seq = Math.max(this.#seq, frame.seq ?? 0);
        this.#ended();
      }
    } catch (error) {
      if (!this.#over.signal.aborted) note(`session ${session_id}: ${toMessage(error)}`);
    } finally {
      this.#over.abort();
    }
  }

  async #take(frame: SessionFrame): Promise<void> {
    const { showsPartial, write } = this.#parts;
    if (!frame.type.startsWith("agent.")) return;
    if (frame.type === "agent.notice" && frame.category.startsWith("request_")) this.#refreshRequests();
    const native = toClaudeFrame({ ...frame });
    if (native === undefined) return;
    const { seq: _seq, persisted: _persisted, ...own } = native;
    const type = String(own["type"]).replace(/^claude\./, "");
    if (type === "stream_event" && !showsPartial) return;
    if (type === "system" && own["subtype"] === "init") this.#servers = asObjects(own["mcp_servers"]);
    await write({ ...own, type });
  }

  /** One read at a time; a change meanwhile causes another. */
  #refreshRequests(): void {
    if (!this.#parts.answersRequests) return;
    this.#wanted += 1;
    if (this.#wanted > 1) return;
    void (async () => {
      while (this.#wanted > 0 && !this.#over.signal.aborted) {
        const seen = this.#wanted;
        await this.#readRequests().catch((error: unknown) => {
          if (!this.#over.signal.aborted) this.#parts.note(`requests cannot be read: ${toMessage(error)}`);
        });
        this.#wanted -= seen;
      }
    })();
  }

  async #readRequests(): Promise<void> {
    const { http, session_id, write, note } = this.#parts;
    const rows = await http.allRequests({ session_id });
    const pending = rows.filter(({ status }) => status === "pending");
    for (const request_id of [...this.#asked.keys()]) {
      if (pending.some((row) => row.request_id === request_id)) continue;
      this.#asked.delete(request_id);
      // Answered by another client, or withdrawn.
      await write({ type: "control_cancel_request", request_id });
    }
    for (const row of pending) {
      if (this.#asked.has(row.request_id)) continue;
      this.#asked.set(row.request_id, row.shown_hash);
      const whole = row.is_cut === true ? await http.request(session_id, row.request_id) : row;
      const request = toToolRequest(whole);
      if (request === undefined)
        note(`${row.payload.title}: answer with \`blemees answer ${row.request_id}\``);
      else void this.#ask(whole, request);
    }
  }

  async #ask(row: RequestRow, request: JsonObject): Promise<void> {
    const { http, ask, note } = this.#parts;
    const { request_id, session_id, shown_hash } = row;
    try {
      const given = await ask(request, request_id);
      if (this.#over.signal.aborted || !this.#asked.has(request_id)) return;
      // As claude: a program that fails has not allowed anything.
      const response = given.ok ? given.response : { behavior: "deny", message: given.error };
      const read = readToolAnswer(row, response);
      if (read === undefined) {
        note(`request ${request_id}: the program's answer is neither allow nor deny; it stays pending`);
        return;
      }
      if (read.note !== undefined) note(read.note);
      this.#asked.delete(request_id);
      await http.respond(session_id, request_id, read.answer, { shown_hash });
    } catch (error) {
      if (readErrno(error) !== "request_settled") note(`request ${request_id}: ${toMessage(error)}`);
    }
  }
}

/** What claude says of itself when a program begins; the rest is not known here. */
export async function describeClaude(http: HttpClient, session_id: string): Promise<JsonObject> {
  const { model, commands = [] } = await http.settings(session_id);
  return {
    commands: commands.map(({ name, description = "", hint = "" }) => ({
      name,
      description,
      argumentHint: hint,
    })),
    models: (model?.values ?? []).map(({ value, name, description }) => ({
      value,
      displayName: name ?? value,
      description: description ?? "",
    })),
    agents: [],
    output_style: "default",
    available_output_styles: ["default"],
    account: {},
  };
}
