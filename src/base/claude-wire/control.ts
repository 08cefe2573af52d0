// Claude Code's control protocol: requests in both directions over its stdin and stdout. Matches requests with answers;
// what a request means is up to the caller.
import type { JsonObject } from "../json.ts";
import { asObject, asString } from "../values.ts";

export type ControlAnswer = { ok: true; response: JsonObject } | { ok: false; error: string };

/** A request from claude, which waits until it is answered. */
export interface ControlRequest {
  request_id: string;
  subtype: string;
  body: JsonObject;
  /** Aborts when claude cancels the request or the channel closes. */
  signal: AbortSignal;
}

export interface ControlParts {
  /** Prefix of the ids of our requests. */
  name: string;
  write(line: string): Promise<void>;
  request(request: ControlRequest): void;
}

const ENDED: ControlAnswer = { ok: false, error: "claude has ended" };

export class ControlChannel {
  readonly #parts: ControlParts;
  /** Our requests without an answer. */
  readonly #sent = new Map<string, (answer: ControlAnswer) => void>();
  /** Claude's requests without an answer. */
  readonly #received = new Map<string, AbortController>();
  #count: number;
  #isClosed = false;

  /** `count`: requests that were sent to this process before. */
  constructor(parts: ControlParts, count = 0) {
    this.#parts = parts;
    this.#count = count;
  }

  /** Requests sent so far; they are numbered. */
  get count(): number {
    return this.#count;
  }

  /** Neither side waits for an answer. */
  get isQuiet(): boolean {
    return this.#sent.size === 0 && this.#received.size === 0;
  }

  /** Sends a request, numbered unless it has an id. Never rejects, and settles even if claude ends first. */
  request(request: JsonObject, id?: string): Promise<ControlAnswer> {
    if (this.#isClosed) return Promise.resolve(ENDED);
    if (id === undefined) this.#count += 1;
    const request_id = id ?? `${this.#parts.name}-${this.#count}`;
    return new Promise((resolve) => {
      this.#sent.set(request_id, resolve);
      this.#write({ type: "control_request", request_id, request });
    });
  }

  /** Handles a control frame; returns false for any other frame. */
  take(frame: JsonObject): boolean {
    if (frame["type"] === "control_response") this.#settle(asObject(frame["response"]));
    else if (frame["type"] === "control_request") this.#receive(frame);
    else if (frame["type"] === "control_cancel_request") this.#cancel(asString(frame["request_id"]) ?? "");
    else return false;
    return true;
  }

  /** Returns false, and sends nothing, if the request is no longer waiting. Rejects if the write fails. */
  async answer(request_id: string, answer: ControlAnswer): Promise<boolean> {
    if (!this.#received.delete(request_id)) return false;
    const { ok, ...rest } = answer;
    const response = { subtype: ok ? "success" : "error", request_id, ...rest };
    await this.#parts.write(JSON.stringify({ type: "control_response", response }));
    return true;
  }

  /** Sends an error; a failed write is ignored, because the end of the process follows. */
  refuse(request_id: string, error: string): void {
    void this.answer(request_id, { ok: false, error }).catch(() => undefined);
  }

  /** Settles every request, in both directions. */
  close(): void {
    this.#isClosed = true;
    for (const resolve of this.#sent.values()) resolve(ENDED);
    this.#sent.clear();
    for (const request_id of [...this.#received.keys()]) this.#cancel(request_id);
  }

  #settle(response: JsonObject): void {
    const request_id = asString(response["request_id"]) ?? "";
    const resolve = this.#sent.get(request_id);
    this.#sent.delete(request_id);
    if (response["subtype"] === "success") resolve?.({ ok: true, response: asObject(response["response"]) });
    else resolve?.({ ok: false, error: asString(response["error"]) ?? "no reason given" });
  }

  #receive(frame: JsonObject): void {
    const request_id = asString(frame["request_id"]);
    // No answer could reach a request without an id.
    if (request_id === undefined || this.#isClosed || this.#received.has(request_id)) return;
    const controller = new AbortController();
    this.#received.set(request_id, controller);
    const body = asObject(frame["request"]);
    const subtype = asString(body["subtype"]) ?? "";
    this.#parts.request({ request_id, subtype, body, signal: controller.signal });
  }

  #cancel(request_id: string): void {
    const controller = this.#received.get(request_id);
    this.#received.delete(request_id);
    controller?.abort();
  }

  #write(message: JsonObject): void {
    // The exit that follows a failed write says more than the failure.
    void this.#parts.write(JSON.stringify(message)).catch(() => undefined);
  }
}
