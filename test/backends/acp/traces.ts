// Recorded traffic of real ACP agents (test/fixtures/acp/*.native.jsonl), and its translation. Each session of a trace
// is followed as the run would: a load is dropped, answers go in, cancels are remembered.
import { join } from "node:path";
import { introduce } from "../../../src/backends/acp/intro.ts";
import { Replay } from "../../../src/backends/acp/replay.ts";
import { toReply } from "../../../src/backends/acp/requests.ts";
import { readSettings } from "../../../src/backends/acp/settings.ts";
import {
  type AcpReport,
  type AcpState,
  createState,
  type TranslateOptions,
  toNativeId,
} from "../../../src/backends/acp/state.ts";
import { abandonTurn, beginTurn, cancelTurn, translate } from "../../../src/backends/acp/translate.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { RpcError } from "../../../src/base/jsonrpc.ts";
import { readRecordings } from "../recorded.ts";

export const FIXTURES = join(import.meta.dirname, "../../fixtures/acp");

interface Message extends JsonObject {
  id?: string | number;
  method?: string;
  params?: JsonObject;
  result?: JsonObject;
  error?: { code: number; message: string; data?: unknown };
}
/** `out`: written to the agent; `in`: printed by it. */
export interface Step {
  dir: "in" | "out";
  msg: Message;
}
export interface Trace {
  name: string;
  steps: Step[];
}
/** The events of one session of the trace. */
export type Happened =
  | { session: number; report: AcpReport }
  | { session: number; prompted: true }
  | { session: number; swallowed: string };

export function readTraces(): Trace[] {
  return readRecordings(FIXTURES).map(({ name, lines }) => ({ name, steps: lines as unknown as Step[] }));
}

export function replay(trace: Trace, options: TranslateOptions = {}): Happened[] {
  const player = new Player(options);
  for (const step of trace.steps) player.play(step);
  return player.end();
}

class Player {
  readonly #options: TranslateOptions;
  readonly #happened: Happened[] = [];
  readonly #states: AcpState[] = [];
  readonly #loading = new Map<string, Replay>();
  /** Our requests, by id. */
  readonly #asked = new Map<string | number, Message>();
  /** The agent's requests, with their options. */
  readonly #requests = new Map<string, { state: AcpState; params: JsonObject }>();
  /** Frames that arrive before the session's id is known. */
  readonly #early: Message[] = [];
  #intro: JsonObject = {};

  constructor(options: TranslateOptions) {
    this.#options = options;
  }

  play({ dir, msg }: Step): void {
    if (dir === "out") this.#out(msg);
    else if (msg.method !== undefined) this.#incoming(msg);
    else if (msg.id !== undefined && msg.id !== null) this.#answer(msg);
  }

  end(): Happened[] {
    for (const state of this.#states) this.#tell(state, abandonTurn(state, "gone"));
    return this.#happened;
  }

  #out(msg: Message): void {
    const { id, method, params = {} } = msg;
    const state = this.#stateOf(params);
    if (method === undefined) {
      this.#reply(msg);
      return;
    }
    if (method === "session/cancel" && state?.turn !== undefined) this.#tell(state, cancelTurn(state));
    if (method === "session/load") this.#loading.set(String(params["sessionId"]), new Replay());
    if (id === undefined) return;
    // The daemon never sends a second prompt at once.
    if (method === "session/prompt" && (state === undefined || state.turn !== undefined)) return;
    this.#asked.set(id, msg);
    if (method === "session/prompt" && state !== undefined) {
      this.#finishLoading(state);
      this.#happened.push({ session: this.#states.indexOf(state), prompted: true });
      this.#tell(state, beginTurn(state));
    }
  }

  #reply({ id = "", result, error }: Message): void {
    const native_id = toNativeId(id);
    const request = this.#requests.get(native_id);
    if (request === undefined) return;
    const { outcome, action } = (result ?? {}) as { outcome?: { optionId?: string }; action?: string };
    const options = (request.params["options"] ?? []) as Array<{ optionId: string; kind: string }>;
    const kind = options.find(({ optionId }) => optionId === outcome?.optionId)?.kind;
    const isYes = error === undefined && (kind?.startsWith("allow") === true || action === "accept");
    toReply(request.state, native_id, { decision: isYes ? "accept" : "decline" });
  }

  #incoming(msg: Message): void {
    const { id, method = "", params = {} } = msg;
    const sessionId = params["sessionId"];
    const loading = this.#loading.get(String(sessionId));
    if (loading !== undefined) {
      this.#swallow(loading, msg);
      return;
    }
    const states = sessionId === undefined ? this.#states : [this.#stateOf(params)];
    if (states.length === 0 || states[0] === undefined) this.#early.push(msg);
    for (const state of states) {
      if (state === undefined) continue;
      if (id !== undefined) this.#requests.set(toNativeId(id), { state, params });
      const frame =
        id === undefined
          ? ({ kind: "notification", method, params } as const)
          : ({ kind: "request", id, method, params } as const);
      this.#tell(state, translate(state, frame));
    }
  }

  #swallow(loading: Replay, { method = "", params = {} }: Message): void {
    const { length } = loading.kept;
    loading.deliver({ kind: "notification", method, params }, 0);
    const kind = String((params["update"] as JsonObject | undefined)?.["sessionUpdate"]);
    if (loading.kept.length === length)
      this.#happened.push({ session: this.#states.length, swallowed: kind });
  }

  #answer({ id = "", result, error }: Message): void {
    const asked = this.#asked.get(id);
    const { method, params = {} } = asked ?? {};
    if (asked === undefined || method === undefined) return;
    this.#asked.delete(id);
    if (method === "initialize") this.#intro = result ?? {};
    if (method === "session/new" || method === "session/load" || method === "session/resume") {
      this.#opened(String(result?.["sessionId"] ?? params["sessionId"]), method, result);
    }
    const state = this.#stateOf(params);
    if (method !== "session/prompt" || state === undefined) return;
    const answer = error === undefined ? { result } : { error: new RpcError(method, error) };
    this.#tell(state, translate(state, { kind: "answer", answer }));
  }

  #opened(sessionId: string, method: string, result: JsonObject | undefined): void {
    if (result === undefined) {
      this.#loading.delete(sessionId);
      return;
    }
    const state = createState({
      backend: "fake",
      sessionId,
      cwd: "/home/user/project",
      options: this.#options,
      settings: readSettings(result),
      agent: this.#intro,
      isNew: method === "session/new",
    });
    this.#states.push(state);
    this.#tell(state, introduce(state));
    for (const msg of this.#early.splice(0)) this.#incoming(msg);
  }

  /**
   * gemini continues its replay after its answer; the run waits until it is quiet, the trace waited for the next
   * prompt.
   */
  #finishLoading(state: AcpState): void {
    const loading = this.#loading.get(state.sessionId);
    this.#loading.delete(state.sessionId);
    for (const { frame } of loading?.kept ?? []) this.#tell(state, translate(state, frame));
  }

  #stateOf(params: JsonObject): AcpState | undefined {
    return this.#states.find(({ sessionId }) => sessionId === params["sessionId"]);
  }

  #tell(state: AcpState, reports: readonly AcpReport[]): void {
    const session = this.#states.indexOf(state);
    this.#happened.push(...reports.map((report) => ({ session, report })));
  }
}

/** As written in *.agent.jsonl: the event itself, or the signal between events. */
export function toLine(happened: Happened): JsonObject {
  const { session } = happened;
  const at = session === 0 ? {} : { session };
  if ("prompted" in happened) return { ...at, signal: "prompt" };
  if ("swallowed" in happened) return { ...at, signal: "swallowed", kind: happened.swallowed };
  if (happened.report.kind === "event") return { ...at, ...happened.report.event };
  const { kind: signal, ...rest } = happened.report;
  return { ...at, signal, ...rest };
}
