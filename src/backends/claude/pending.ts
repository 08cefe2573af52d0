// What claude has asked and nobody has answered yet. Every request gets exactly one end: an answer, a withdrawal, or
// the end of the process; what no person can decide is refused at once, because claude waits.
import type { JsonObject } from "../../base/json.ts";
import type { Answer } from "../../protocol/requests.ts";
import type { Ask } from "../types.ts";
import { answerLine, type ControlRequest, toControlRequest } from "./control.ts";
import { lacksPlan, Plans, readPlan } from "./plans.ts";
import { type Asked, type Place, toAsked, toResponse } from "./requests.ts";
import { stringOf } from "./state.ts";
import { SubAgents } from "./sub-agents.ts";

export interface PendingParts {
  /** Undefined: the session does not want to be asked. */
  place: (() => Place) | undefined;
  ask(ask: Ask): void;
  withdrawn(native_id: string, reason: string): void;
  write(line: string): Promise<void>;
}

export class Pending {
  readonly #parts: PendingParts;
  readonly #subAgents = new SubAgents();
  readonly #plans = new Plans();
  readonly #open = new Map<string, Asked>();
  /** Requests whose plan is being read. */
  readonly #reading = new Set<string>();
  /** Where claude said it works; it may move. */
  #cwd: string | undefined;
  #isClosed = false;

  constructor(parts: PendingParts) {
    this.#parts = parts;
  }

  /** Learns from every other frame where claude works and which sub-agents there are. */
  see(frame: JsonObject): void {
    if (frame["type"] === "system" && frame["subtype"] === "init")
      this.#cwd = stringOf(frame["cwd"]) ?? this.#cwd;
    this.#subAgents.see(frame);
    this.#plans.see(frame);
  }

  /** A `control_request`. */
  take(frame: JsonObject): void {
    const request = toControlRequest(frame);
    // Without an id no answer can reach it.
    if (request === undefined || this.#isClosed) return;
    const { request_id, subtype, body } = request;
    if (this.#open.has(request_id) || this.#reading.has(request_id)) return;
    const place = subtype === "can_use_tool" ? this.#parts.place?.() : undefined;
    if (place === undefined) {
      this.#refuse(request_id, `unsupported control request: ${subtype}`);
      return;
    }
    const here = { ...place, cwd: this.#cwd ?? place.cwd };
    if (!lacksPlan(body)) {
      this.#ask(request, here);
      return;
    }
    const said = this.#plans.ofCall(stringOf(body["tool_use_id"]));
    const file = this.#plans.fileIn(place.configDir);
    if (said !== undefined || file === undefined) this.#ask(request, here, said);
    else void this.#readPlan(request, here, file);
  }

  /** A `control_cancel_request`. */
  cancel(frame: JsonObject): void {
    const id = stringOf(frame["request_id"]) ?? "";
    this.#reading.delete(id);
    if (this.#open.delete(id)) this.#parts.withdrawn(id, "claude took it back");
  }

  /** False: nobody waits for it, and nothing was sent. Rejects when the write does. */
  async answer(native_id: string, answer: Answer): Promise<boolean> {
    const asked = this.#open.get(native_id);
    if (asked === undefined) return false;
    this.#open.delete(native_id);
    const line = answerLine(native_id, { ok: true, response: toResponse(asked, answer) });
    await this.#parts.write(line);
    return true;
  }

  /** The turn was interrupted. Claude takes back what the turn asked by itself; what is left would wait for ever. */
  withdrawAll(reason: string): void {
    for (const id of this.#reading) this.#refuse(id, reason);
    this.#reading.clear();
    for (const id of [...this.#open.keys()]) {
      this.#open.delete(id);
      this.#parts.withdrawn(id, reason);
      this.#refuse(id, reason);
    }
  }

  /** Claude is on its way out and reads nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#reading.clear();
    this.#open.clear();
  }

  #ask(request: ControlRequest, place: Place, plan?: string): void {
    const { request_id, subtype } = request;
    const asked = toAsked(request, place, { path: this.#pathOf(request), plan });
    if (asked === undefined) {
      this.#refuse(request_id, `malformed control request: ${subtype}`);
      return;
    }
    this.#open.set(request_id, asked);
    this.#parts.ask(asked.ask);
  }

  async #readPlan(request: ControlRequest, place: Place, file: string): Promise<void> {
    this.#reading.add(request.request_id);
    const plan = await readPlan(file);
    // False: it was taken back meanwhile.
    if (this.#reading.delete(request.request_id)) this.#ask(request, place, plan);
  }

  #pathOf(request: ControlRequest): string[] | undefined {
    const agent = stringOf(request.body["agent_id"]);
    return agent === undefined ? undefined : this.#subAgents.pathOf(agent);
  }

  #refuse(request_id: string, error: string): void {
    // Nobody reads the answer of a claude that has gone; its end is told elsewhere.
    void this.#parts.write(answerLine(request_id, { ok: false, error })).catch(() => undefined);
  }
}
