// The pending requests of one session that the editor was asked. The first answer of any client counts: when a request is
// settled elsewhere, the editor's question is taken back.
import { toMessage } from "../../base/coded-error.ts";
import type { HttpClient, RequestRow } from "../../client/index.ts";
import type { EditorPort } from "./editor-port.ts";
import {
  chooseWay,
  readFormAnswer,
  readPermissionAnswer,
  toForm,
  toPermissionRequest,
} from "./permissions.ts";

export interface AskedParts {
  http: HttpClient;
  port: EditorPort;
  session_id: string;
  /** The editor can show forms. */
  canFill: boolean;
  /** Aborts when the session is no longer shown. */
  signal: AbortSignal;
  /** The number of pending requests may have changed. */
  changed(): void;
  warn(message: string): void;
}

export class AskedRequests {
  readonly #parts: AskedParts;
  /** With what takes the question back. */
  readonly #asked = new Map<string, { hash: string; over: AbortController }>();
  /** Changes that were not read yet. */
  #wanted = 0;

  constructor(parts: AskedParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#asked.size;
  }

  /** One read at a time; a change meanwhile causes another. */
  refresh(): void {
    this.#wanted += 1;
    if (this.#wanted > 1) return;
    const { signal, warn, changed } = this.#parts;
    void (async () => {
      while (this.#wanted > 0 && !signal.aborted) {
        const seen = this.#wanted;
        await this.#read().catch((error: unknown) => {
          if (!signal.aborted) warn(`requests cannot be read: ${toMessage(error)}`);
        });
        this.#wanted -= seen;
        changed();
      }
    })();
  }

  close(): void {
    for (const { over } of this.#asked.values()) over.abort();
  }

  async #read(): Promise<void> {
    const { http, session_id, signal } = this.#parts;
    const rows = await http.allRequests({ session_id });
    const pending = rows.filter(({ status }) => status === "pending");
    const hashes = new Map(pending.map(({ request_id, shown_hash }) => [request_id, shown_hash]));
    for (const [request_id, { hash, over }] of [...this.#asked]) {
      if (hashes.get(request_id) === hash) continue;
      this.#asked.delete(request_id);
      over.abort();
    }
    for (const row of pending) {
      if (this.#asked.has(row.request_id)) continue;
      const over = new AbortController();
      this.#asked.set(row.request_id, { hash: row.shown_hash, over });
      const whole = row.is_cut === true ? await http.request(session_id, row.request_id) : row;
      void this.#ask(whole, AbortSignal.any([over.signal, signal]));
    }
  }

  /** A failure answers nothing: the request stays pending, for this editor's user in another screen. */
  async #ask(row: RequestRow, signal: AbortSignal): Promise<void> {
    const { http, session_id, warn } = this.#parts;
    try {
      const answer = await this.#getAnswer(row, signal);
      if (answer === undefined || signal.aborted) return;
      await http.respond(session_id, row.request_id, answer, { shown_hash: row.shown_hash });
    } catch (error) {
      if (!signal.aborted) warn(`request ${row.request_id} was not answered: ${toMessage(error)}`);
    }
  }

  async #getAnswer(row: RequestRow, signal: AbortSignal): Promise<ReturnType<typeof readFormAnswer>> {
    const { port, canFill, session_id } = this.#parts;
    const way = chooseWay(row, canFill);
    if (way === "choices") {
      return readPermissionAnswer(
        row,
        await port.askPermission(toPermissionRequest(row, session_id), signal),
      );
    }
    if (way === "form") {
      const order = { mode: "form", sessionId: session_id, ...toForm(row) } as const;
      return readFormAnswer(row, await port.askForm(order, signal));
    }
    const questions = (row.payload.questions ?? []).map(({ question }) => question).join("\n");
    const text = `\n[The agent asks, and this editor has no form for it:\n${questions}\nAnswer with: blemees answer ${row.request_id}]\n`;
    await port.update(session_id, {
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text },
    });
    return undefined;
  }
}
