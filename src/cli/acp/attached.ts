// One session that an editor shows: its frames as updates, its requests as permission requests, and the editor's prompts.
// Survives restarts of the daemon: the stream continues after the last event that was sent, and pending requests are read
// again. An update is written before the next event is read, so a slow editor slows only its own stream.
import type { AgentContext, PromptResponse, SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import { readErrno, toMessage } from "../../base/coded-error.ts";
import { asObject, asString, asText } from "../../base/values.ts";
import type { HttpClient, RequestRow, StreamItem, WireFrame } from "../../client/index.ts";
import type { UserMessage } from "../../protocol/content.ts";
import { toTurnError } from "./errors.ts";
import {
  chooseWay,
  readFormAnswer,
  readPermissionAnswer,
  toForm,
  toPermissionRequest,
} from "./permissions.ts";
import { createUpdateState, toUpdates, type UpdateState } from "./to-updates.ts";

export interface AttachOptions {
  http: HttpClient;
  client: AgentContext;
  session_id: string;
  cwd: string | undefined;
  /** The editor can show forms. */
  canFill: boolean;
  /** Start after this event; 0 sends the whole history. */
  since_seq: number;
  /** The last event of the history. */
  last_seq: number;
  warn(message: string): void;
}

interface Prompt {
  turn_id?: string;
  isCancelled: boolean;
  /** Why the turn stopped, if the agent said more than its result does. */
  stopReason?: StopReason;
  resolve(response: PromptResponse): void;
  reject(error: Error): void;
}

export class AttachedSession {
  readonly session_id: string;
  readonly #options: AttachOptions;
  readonly #state: UpdateState;
  readonly #over = new AbortController();
  readonly #prompts = new Map<string, Prompt>();
  /** Requests that the editor was asked, with what takes the question back. */
  readonly #asked = new Map<string, { hash: string; over: AbortController }>();
  readonly #done: Promise<void>;
  /** Events wait until the id of a prompt is known, or it would be taken for another client's. */
  #sending: Promise<unknown> = Promise.resolve();
  #turn_id: string | undefined;
  /** Changes of requests that were not read yet. */
  #wanted = 0;
  #isReplayed = false;
  /** The history has been sent. */
  readonly replayed: Promise<void>;
  #setReplayed: () => void = () => undefined;

  constructor(options: AttachOptions) {
    this.#options = options;
    this.session_id = options.session_id;
    this.#state = createUpdateState(options.cwd);
    this.replayed = new Promise((resolve) => {
      this.#setReplayed = resolve;
    });
    this.#done = this.#follow();
  }

  /** Queues the message; resolves when its turn has ended. */
  prompt(message: UserMessage): Promise<PromptResponse> {
    return new Promise((resolve, reject) => {
      this.#sending = this.#options.http.input(this.session_id, { message }).then(({ input }) => {
        this.#state.own.add(input.message_id);
        this.#prompts.set(input.message_id, { isCancelled: false, resolve, reject });
      }, reject);
    });
  }

  /** Ends our prompts: those that wait leave the queue, the running turn is interrupted. */
  async cancel(): Promise<void> {
    await this.#sending;
    const { http } = this.#options;
    for (const [message_id, prompt] of [...this.#prompts]) {
      prompt.isCancelled = true;
      if (prompt.turn_id === undefined && (await this.#recall(message_id)))
        this.#settle(message_id, "cancelled");
    }
    if (this.#turn_id !== undefined || this.#prompts.size > 0) await http.interrupt(this.session_id);
  }

  /** The session itself continues. */
  async close(): Promise<void> {
    this.#over.abort();
    await this.#done;
  }

  /** False if it has been delivered. */
  async #recall(message_id: string): Promise<boolean> {
    try {
      await this.#options.http.cancelInput(this.session_id, message_id);
      return true;
    } catch (error) {
      if (readErrno(error) === "message_unknown") return false;
      this.#options.warn(`a queued message cannot be cancelled: ${toMessage(error)}`);
      return false;
    }
  }

  async #follow(): Promise<void> {
    const { http, since_seq, last_seq, warn } = this.#options;
    const { signal } = this.#over;
    if (since_seq >= last_seq) this.#endReplay();
    try {
      const onOpen = (): void => {
        // Requests may have been answered while the daemon was away.
        if (this.#isReplayed) this.#refreshRequests();
      };
      for await (const item of http.follow(this.session_id, { since_seq, signal, onOpen })) {
        await this.#sending;
        if (signal.aborted) break;
        await this.#take(item);
        if (item.kind === "frame" && (item.seq ?? 0) >= last_seq) this.#endReplay();
      }
      if (!signal.aborted) this.#end(new Error("the session was deleted"));
    } catch (error) {
      if (!signal.aborted) {
        warn(`session ${this.session_id}: ${toMessage(error)}`);
        this.#end(error as Error);
      }
    } finally {
      this.#end(undefined);
    }
  }

  #endReplay(): void {
    if (this.#isReplayed) return;
    this.#isReplayed = true;
    this.#setReplayed();
    this.#refreshRequests();
  }

  async #take(item: StreamItem): Promise<void> {
    if (item.kind === "gap") {
      await this.#write([
        {
          sessionUpdate: "agent_message_chunk",
          content: { type: "text", text: "\n[some events are missing here: they are no longer stored]\n" },
        },
      ]);
    }
    if (item.kind !== "frame") return;
    const { frame } = item;
    await this.#write(toUpdates(this.#state, frame));
    if (frame.type === "agent.notice") this.#takeNotice(frame);
    if (frame.type === "agent.result") this.#takeResult(frame);
  }

  /** In order, each after the one before has been written. */
  async #write(updates: readonly SessionUpdate[]): Promise<void> {
    const { client, session_id } = this.#options;
    for (const update of updates) {
      if (this.#over.signal.aborted) return;
      await client.notify("session/update", { sessionId: session_id, update });
    }
  }

  #takeNotice(frame: WireFrame): void {
    const data = asObject(frame["data"]);
    const category = asString(frame["category"]) ?? "";
    const message_id = asString(data["message_id"]) ?? "";
    const prompt = this.#prompts.get(message_id);
    if (category === "task_started") this.#turn_id = asText(data["turn_id"]);
    if (category === "input_delivered" && prompt !== undefined) {
      const turn_id = asText(data["turn_id"]) ?? this.#turn_id;
      if (turn_id !== undefined) prompt.turn_id = turn_id;
    }
    if (category === "input_cancelled") this.#settle(message_id, "cancelled");
    if (category === "input_failed" && prompt !== undefined) {
      const { code, message } = asObject(data["error"]);
      this.#fail(message_id, asString(code), asString(message) ?? asString(frame["text"]));
    }
    if (category === "stop_reason") this.#noteStop(data["stop_reason"]);
    if (category.startsWith("request_") && this.#isReplayed) this.#refreshRequests();
  }

  #noteStop(reason: unknown): void {
    const stopReason = STOPS.get(reason);
    if (stopReason === undefined) return;
    for (const prompt of this.#prompts.values()) {
      if (prompt.turn_id !== undefined && prompt.turn_id === this.#turn_id) prompt.stopReason = stopReason;
    }
  }

  #takeResult(frame: WireFrame): void {
    const turn_id = asText(frame["turn_id"]) ?? this.#turn_id;
    this.#turn_id = undefined;
    for (const [message_id, prompt] of [...this.#prompts]) {
      if (prompt.turn_id === undefined || prompt.turn_id !== turn_id) continue;
      const { code, message } = asObject(frame["error"]);
      const subtype = asString(frame["subtype"]) ?? "";
      if (subtype === "interrupted" || prompt.isCancelled) this.#settle(message_id, "cancelled");
      else if (subtype === "error") this.#fail(message_id, asString(code), asString(message));
      else this.#settle(message_id, prompt.stopReason ?? RESULTS.get(subtype) ?? "end_turn");
    }
  }

  #settle(message_id: string, stopReason: StopReason): void {
    const prompt = this.#prompts.get(message_id);
    this.#prompts.delete(message_id);
    prompt?.resolve({ stopReason });
  }

  #fail(message_id: string, code = "agent_error", message = "the turn failed"): void {
    const prompt = this.#prompts.get(message_id);
    this.#prompts.delete(message_id);
    prompt?.reject(toTurnError({ code, message }));
  }

  /** Without an error, the editor has closed the session: prompts end as cancelled, their turns continue. */
  #end(error: Error | undefined): void {
    this.#over.abort();
    this.#setReplayed();
    for (const { over } of this.#asked.values()) over.abort();
    for (const [message_id, prompt] of [...this.#prompts]) {
      if (error === undefined) this.#settle(message_id, "cancelled");
      else {
        this.#prompts.delete(message_id);
        prompt.reject(error);
      }
    }
  }

  /** One read at a time; a change meanwhile causes another. */
  #refreshRequests(): void {
    this.#wanted += 1;
    if (this.#wanted > 1) return;
    void (async () => {
      while (this.#wanted > 0 && !this.#over.signal.aborted) {
        const seen = this.#wanted;
        await this.#readRequests().catch((error: unknown) => {
          if (!this.#over.signal.aborted) this.#options.warn(`requests cannot be read: ${toMessage(error)}`);
        });
        this.#wanted -= seen;
      }
    })();
  }
  async #readRequests(): Promise<void> {
    const { http } = this.#options;
    const rows = await http.allRequests({ session_id: this.session_id });
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
      const whole = row.is_cut === true ? await http.request(this.session_id, row.request_id) : row;
      void this.#ask(whole, AbortSignal.any([over.signal, this.#over.signal]));
    }
  }

  /** A failure answers nothing: the request stays pending, for this editor's user in another screen. */
  async #ask(row: RequestRow, signal: AbortSignal): Promise<void> {
    const { http, warn } = this.#options;
    try {
      const answer = await this.#getAnswer(row, signal);
      if (answer === undefined || signal.aborted) return;
      await http.respond(this.session_id, row.request_id, answer, { shown_hash: row.shown_hash });
    } catch (error) {
      if (!signal.aborted) warn(`request ${row.request_id} was not answered: ${toMessage(error)}`);
    }
  }

  async #getAnswer(row: RequestRow, signal: AbortSignal): Promise<ReturnType<typeof readFormAnswer>> {
    const { client, canFill, session_id } = this.#options;
    const how = { cancellationSignal: signal, stopWaitingOnCancel: true };
    const way = chooseWay(row, canFill);
    if (way === "choices") {
      const order = toPermissionRequest(row, session_id);
      return readPermissionAnswer(row, await client.request("session/request_permission", order, how));
    }
    if (way === "form") {
      const order = { mode: "form", sessionId: session_id, ...toForm(row) } as const;
      return readFormAnswer(row, await client.request("elicitation/create", order, how));
    }
    const questions = (row.payload.questions ?? []).map(({ question }) => question).join("\n");
    await this.#write([
      {
        sessionUpdate: "agent_message_chunk",
        content: {
          type: "text",
          text: `\n[The agent asks, and this editor has no form for it:\n${questions}\nAnswer with: blemees answer ${row.request_id}]\n`,
        },
      },
    ]);
    return undefined;
  }
}

const STOPS: ReadonlyMap<unknown, StopReason> = new Map<unknown, StopReason>([
  ["max_tokens", "max_tokens"],
  ["refusal", "refusal"],
]);
const RESULTS: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ["max_turns", "max_turn_requests"],
  ["max_budget", "max_turn_requests"],
]);
