// One session that an editor shows: its frames as updates, its requests as permission requests, and the editor's prompts.
// Survives restarts of the daemon: the stream continues after the last event that was sent, and pending requests are read
// again. An update is written before the next event is read, so a slow editor slows only its own stream.
import type { PromptResponse, SessionUpdate, StopReason } from "@agentclientprotocol/sdk";
import { readErrno, toMessage } from "../../base/coded-error.ts";
import { createDeferred } from "../../base/deferred.ts";
import { asObject, asString, asText } from "../../base/values.ts";
import type { HttpClient, StreamItem, WireFrame } from "../../client/index.ts";
import type { UserMessage } from "../../protocol/content.ts";
import { AskedRequests } from "./asked-requests.ts";
import type { EditorPort, EditorState } from "./editor-port.ts";
import { cancelledError, toTurnError } from "./errors.ts";
import { createUpdateState, toUpdates, type UpdateState } from "./to-updates.ts";

export interface AttachOptions {
  http: HttpClient;
  port: EditorPort;
  session_id: string;
  cwd: string | undefined;
  /** The editor can show forms. */
  canFill: boolean;
  /** Start after this event; 0 sends the whole history. */
  since_seq: number;
  /** The last event of the history. */
  last_seq: number;
  /** A turn is running. */
  isWorking: boolean;
  warn(message: string): void;
}

/** A message in the queue. Both reject if it is not delivered. */
export interface SentPrompt {
  /** Its id, once the agent has it. */
  delivered: Promise<string>;
  /** Its turn has ended. */
  ended: Promise<PromptResponse>;
}

interface Prompt {
  turn_id?: string;
  isCancelled: boolean;
  delivered(message_id: string): void;
  resolve(response: PromptResponse): void;
  reject(error: Error): void;
}

export class AttachedSession {
  readonly session_id: string;
  readonly #options: AttachOptions;
  readonly #state: UpdateState;
  readonly #over = new AbortController();
  readonly #prompts = new Map<string, Prompt>();
  readonly #asked: AskedRequests;
  readonly #done: Promise<void>;
  /** Events wait until the id of a prompt is known, or it would be taken for another client's. */
  #sending: Promise<unknown> = Promise.resolve();
  #turn_id: string | undefined;
  #isWorking: boolean;
  /** Why the running turn stops, if the agent said more than its result does. */
  #stopReason: StopReason | undefined;
  /** How the last turn ended. */
  #last: EditorState = { state: "idle" };
  /** The state that was last sent, to send changes only. */
  #shown = "";
  #isReplayed = false;
  /** The history has been sent. */
  readonly replayed: Promise<void>;
  #setReplayed: () => void = () => undefined;

  constructor(options: AttachOptions) {
    this.#options = options;
    this.session_id = options.session_id;
    this.#isWorking = options.isWorking;
    this.#state = createUpdateState(options.cwd);
    this.#asked = new AskedRequests({
      ...options,
      signal: this.#over.signal,
      changed: () => void this.#showState().catch(() => undefined), // the connection is closed
    });
    this.replayed = new Promise((resolve) => {
      this.#setReplayed = resolve;
    });
    this.#done = this.#follow();
  }

  /** Queues the message. */
  prompt(message: UserMessage): SentPrompt {
    const { http, port } = this.#options;
    const delivered = createDeferred<string>();
    const ended = createDeferred<PromptResponse>();
    const reject = (error: Error): void => {
      delivered.reject(error);
      ended.reject(error);
    };
    // Which of the two matters depends on the protocol.
    delivered.promise.catch(() => undefined);
    ended.promise.catch(() => undefined);
    this.#sending = http.input(this.session_id, { message }).then(({ input }) => {
      if (!port.repeatsPrompts) this.#state.own.add(input.message_id);
      const { resolve } = ended;
      this.#prompts.set(input.message_id, {
        ...{ isCancelled: false, delivered: delivered.resolve, resolve, reject },
      });
    }, reject);
    return { delivered: delivered.promise, ended: ended.promise };
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
    try {
      if (since_seq >= last_seq) await this.#endReplay();
      const onOpen = (): void => {
        // Requests may have been answered while the daemon was away.
        if (this.#isReplayed) this.#asked.refresh();
      };
      for await (const item of http.follow(this.session_id, { since_seq, signal, onOpen })) {
        await this.#sending;
        if (signal.aborted) break;
        await this.#take(item);
        if (item.kind === "frame" && (item.seq ?? 0) >= last_seq) await this.#endReplay();
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

  async #endReplay(): Promise<void> {
    if (this.#isReplayed) return;
    this.#isReplayed = true;
    await this.#showState();
    this.#setReplayed();
    this.#asked.refresh();
  }

  async #take(item: StreamItem): Promise<void> {
    if (item.kind === "gap") {
      const text = "\n[some events are missing here: they are no longer stored]\n";
      await this.#write([{ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }]);
    }
    if (item.kind !== "frame") return;
    const { frame, seq } = item;
    await this.#write(toUpdates(this.#state, frame), seq ?? undefined);
    if (frame.type === "agent.notice") this.#takeNotice(frame);
    if (frame.type === "agent.result") this.#takeResult(frame);
    await this.#showState();
  }

  /** In order, each after the one before has been written. */
  async #write(updates: readonly SessionUpdate[], seq?: number): Promise<void> {
    const { port, session_id } = this.#options;
    for (const update of updates) {
      if (this.#over.signal.aborted) return;
      await port.update(session_id, update, seq);
    }
  }

  async #showState(): Promise<void> {
    if (!this.#isReplayed || this.#over.signal.aborted) return;
    const working: EditorState = { state: this.#asked.size > 0 ? "requires_action" : "running" };
    const state = this.#isWorking ? working : this.#last;
    const text = JSON.stringify(state);
    if (this.#shown === text) return;
    this.#shown = text;
    await this.#options.port.state(this.session_id, state);
  }

  #takeNotice(frame: WireFrame): void {
    const data = asObject(frame["data"]);
    const category = asString(frame["category"]) ?? "";
    const message_id = asString(data["message_id"]) ?? "";
    const prompt = this.#prompts.get(message_id);
    if (category === "task_started") this.#beginTurn(asText(data["turn_id"]));
    if (category === "input_delivered" && prompt !== undefined) {
      const turn_id = asText(data["turn_id"]) ?? this.#turn_id;
      if (turn_id !== undefined) prompt.turn_id = turn_id;
      prompt.delivered(message_id);
    }
    if (category === "input_cancelled") this.#settle(message_id, "cancelled");
    if (category === "input_failed" && prompt !== undefined) {
      const { code, message } = asObject(data["error"]);
      this.#fail(message_id, asString(code), asString(message) ?? asString(frame["text"]));
    }
    if (category === "stop_reason") this.#stopReason = STOPS.get(data["stop_reason"]);
    if (category.startsWith("request_") && this.#isReplayed) this.#asked.refresh();
  }

  #beginTurn(turn_id: string | undefined): void {
    this.#turn_id = turn_id;
    this.#isWorking = true;
    this.#stopReason = undefined;
  }

  #takeResult(frame: WireFrame): void {
    const turn_id = asText(frame["turn_id"]) ?? this.#turn_id;
    const { code, message } = asObject(frame["error"]);
    const subtype = asString(frame["subtype"]) ?? "";
    const stopReason = this.#stopReason ?? RESULTS.get(subtype) ?? "end_turn";
    this.#turn_id = undefined;
    this.#isWorking = false;
    this.#last =
      subtype === "error"
        ? { state: "idle", stopReason: "error", message: asString(message) ?? "the turn failed" }
        : { state: "idle", stopReason };
    for (const [message_id, prompt] of [...this.#prompts]) {
      if (prompt.turn_id === undefined || prompt.turn_id !== turn_id) continue;
      if (prompt.isCancelled) this.#settle(message_id, "cancelled");
      else if (subtype === "error") this.#fail(message_id, asString(code), asString(message));
      else this.#settle(message_id, stopReason);
    }
  }

  #settle(message_id: string, stopReason: StopReason): void {
    const prompt = this.#prompts.get(message_id);
    this.#prompts.delete(message_id);
    prompt?.resolve({ stopReason });
    // Without effect if it was delivered.
    prompt?.reject(cancelledError());
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
    this.#asked.close();
    for (const [message_id, prompt] of [...this.#prompts]) {
      if (error === undefined) this.#settle(message_id, "cancelled");
      else {
        this.#prompts.delete(message_id);
        prompt.reject(error);
      }
    }
  }
}

const STOPS: ReadonlyMap<unknown, StopReason> = new Map<unknown, StopReason>([
  ["max_tokens", "max_tokens"],
  ["refusal", "refusal"],
]);
const RESULTS: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ["interrupted", "cancelled"],
  ["max_turns", "max_turn_requests"],
  ["max_budget", "max_turn_requests"],
]);
