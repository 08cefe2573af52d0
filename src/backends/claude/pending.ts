// Claude's requests that are waiting for an answer. Each gets exactly one end: an answer, a withdrawal, or the end of the
// process. What no user could decide is refused at once, because claude waits.

import type { ControlChannel, ControlRequest } from "../../base/claude-wire/control.ts";
import type { JsonObject } from "../../base/json.ts";
import { asString } from "../../base/values.ts";
import type { Answer } from "../../protocol/requests.ts";
import type { Ask } from "../types.ts";
import { lacksPlan, Plans, type PlansState, readPlan } from "./plans.ts";
import { type ClaudeAsk, type Place, toClaudeAsk, toResponse } from "./requests.ts";
import { SubAgents, type SubAgentsState } from "./sub-agents.ts";

export interface PendingParts {
  control: ControlChannel;
  /** Undefined: the session does not take requests. */
  place: (() => Place) | undefined;
  ask(ask: Ask): void;
  withdrawn(native_id: string, reason: string): void;
}

/** What earlier frames said that requests need. Plain data. */
export interface PendingState {
  subAgents: SubAgentsState;
  plans: PlansState;
  /** The directory that claude last reported; it may change. */
  cwd: string | undefined;
}

export class Pending {
  readonly #parts: PendingParts;
  readonly #subAgents: SubAgents;
  readonly #plans: Plans;
  /** Undefined while its plan is being read. */
  readonly #open = new Map<string, ClaudeAsk | undefined>();
  #cwd: string | undefined;
  #isClosed = false;

  constructor(parts: PendingParts, state?: PendingState) {
    this.#parts = parts;
    this.#subAgents = new SubAgents(state?.subAgents);
    this.#plans = new Plans(state?.plans);
    this.#cwd = state?.cwd;
  }

  /** What is waiting is not part of it. */
  get state(): PendingState {
    return { subAgents: this.#subAgents.state, plans: this.#plans.state, cwd: this.#cwd };
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Learns from every other frame where claude works and which sub-agents it runs. */
  see(frame: JsonObject): void {
    if (frame["type"] === "system" && frame["subtype"] === "init")
      this.#cwd = asString(frame["cwd"]) ?? this.#cwd;
    this.#subAgents.see(frame);
    this.#plans.see(frame);
  }

  take(request: ControlRequest): void {
    if (this.#isClosed) return;
    const { request_id, subtype, body, signal } = request;
    const place = subtype === "can_use_tool" ? this.#parts.place?.() : undefined;
    if (place === undefined) {
      this.#parts.control.refuse(request_id, `unsupported control request: ${subtype}`);
      return;
    }
    signal.addEventListener("abort", () => this.#withdraw(request_id, "claude cancelled the request"));
    const here = { ...place, cwd: this.#cwd ?? place.cwd };
    if (!lacksPlan(body)) {
      this.#ask(request, here);
      return;
    }
    const said = this.#plans.findByCall(asString(body["tool_use_id"]));
    const file = this.#plans.findFile(place.configDir);
    if (said !== undefined || file === undefined) this.#ask(request, here, said);
    else void this.#readPlan(request, here, file);
  }

  /** Returns false, and sends nothing, if the request is no longer waiting. Rejects if the write fails. */
  async answer(native_id: string, answer: Answer): Promise<boolean> {
    const asked = this.#open.get(native_id);
    if (asked === undefined) return false;
    this.#open.delete(native_id);
    return this.#parts.control.answer(native_id, { ok: true, response: toResponse(asked, answer) });
  }

  /** The turn was interrupted. Claude cancels most of its requests itself; the rest would wait forever. */
  withdrawAll(reason: string): void {
    for (const id of [...this.#open.keys()]) {
      this.#withdraw(id, reason);
      this.#parts.control.refuse(id, reason);
    }
  }

  /** Claude is ending and reads nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#open.clear();
  }

  #withdraw(id: string, reason: string): void {
    const asked = this.#open.get(id);
    this.#open.delete(id);
    if (asked !== undefined) this.#parts.withdrawn(id, reason);
  }

  #ask(request: ControlRequest, place: Place, plan?: string): void {
    const { request_id, subtype } = request;
    const asked = toClaudeAsk(request, place, { path: this.#findPath(request), plan });
    if (asked === undefined) {
      this.#parts.control.refuse(request_id, `malformed control request: ${subtype}`);
      return;
    }
    this.#open.set(request_id, asked);
    this.#parts.ask(asked.ask);
  }

  async #readPlan(request: ControlRequest, place: Place, file: string): Promise<void> {
    const { request_id } = request;
    this.#open.set(request_id, undefined);
    const plan = await readPlan(file);
    // False: the request was withdrawn meanwhile.
    if (this.#open.delete(request_id)) this.#ask(request, place, plan);
  }

  #findPath({ body }: ControlRequest): string[] | undefined {
    const agent = asString(body["agent_id"]);
    return agent === undefined ? undefined : this.#subAgents.findPath(agent);
  }
}
