// The control protocol on claude's stdin and stdout: our requests with their answers, and the answers to
// claude's own requests. Builds and matches lines; who writes them is run.ts, what claude asks is pending.ts.
import { isObject, type JsonObject } from "../../base/json.ts";
import { stringOf } from "./state.ts";

export type ControlAnswer = { ok: true; response: JsonObject } | { ok: false; error: string };

export interface ControlRequest {
  request_id: string;
  subtype: string;
  body: JsonObject;
}

export class Control {
  readonly #waiting = new Map<string, (answer: ControlAnswer) => void>();
  #count = 0;
  #isClosed = false;

  /** The answer settles in any case: also when claude ends first. */
  request(subtype: string): { line: string; answer: Promise<ControlAnswer> } {
    this.#count += 1;
    const request_id = `blemees-${this.#count}`;
    const answer = new Promise<ControlAnswer>((resolve) => {
      if (this.#isClosed) resolve({ ok: false, error: "claude has ended" });
      else this.#waiting.set(request_id, resolve);
    });
    return { line: JSON.stringify({ type: "control_request", request_id, request: { subtype } }), answer };
  }

  /** A `control_response` frame. Answers to nothing we asked are ignored. */
  settle(frame: JsonObject): void {
    const response = isObject(frame["response"]) ? frame["response"] : {};
    const request_id = stringOf(response["request_id"]) ?? "";
    const resolve = this.#waiting.get(request_id);
    this.#waiting.delete(request_id);
    if (response["subtype"] === "success") {
      resolve?.({ ok: true, response: isObject(response["response"]) ? response["response"] : {} });
    } else {
      resolve?.({ ok: false, error: stringOf(response["error"]) ?? "no reason given" });
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const resolve of this.#waiting.values()) resolve({ ok: false, error: "claude has ended" });
    this.#waiting.clear();
  }
}

/** Undefined: it has no id, so no answer can reach it. */
export function toControlRequest(frame: JsonObject): ControlRequest | undefined {
  const request_id = stringOf(frame["request_id"]);
  if (request_id === undefined) return undefined;
  const body = isObject(frame["request"]) ? frame["request"] : {};
  return { request_id, subtype: stringOf(body["subtype"]) ?? "", body };
}

export function answerLine(request_id: string, answer: ControlAnswer): string {
  const response = answer.ok
    ? { subtype: "success", request_id, response: answer.response }
    : { subtype: "error", request_id, error: answer.error };
  return JSON.stringify({ type: "control_response", response });
}
