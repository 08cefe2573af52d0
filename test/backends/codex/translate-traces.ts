// Recorded traffic of `codex app-server` (test/fixtures/codex/*.native.jsonl), and its translation.
import { join } from "node:path";
import { findPendingAsk, noteAnswered, toAsk } from "../../../src/backends/codex/app-server/requests.ts";
import {
  type CodexPendingAsk,
  type CodexReport,
  type CodexState,
  type CodexTranslateOptions,
  createState,
  toNativeId,
} from "../../../src/backends/codex/app-server/state.ts";
import { ownsThread } from "../../../src/backends/codex/app-server/subagents.ts";
import { closeOpenItems, onStarted, translate } from "../../../src/backends/codex/app-server/translate.ts";
import type { Ask } from "../../../src/backends/types.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { readRecordings } from "../recorded.ts";

export const FIXTURES = join(import.meta.dirname, "../../fixtures/codex");

export interface Trace {
  name: string;
  steps: Step[];
}
/** `out`: written to Codex; `in`: printed by it; `of`: the method of the request that this answers. */
interface Step {
  dir: "in" | "out";
  of?: string;
  msg: JsonObject & { id?: string | number; method?: string; params?: JsonObject; result?: JsonObject };
}

/** The events of one thread that the trace started or resumed. */
export type Happened =
  | { root: number; report: CodexReport }
  | { root: number; ask: Ask | JsonObject }
  | { root: number; answered: CodexPendingAsk; result: unknown };

export function readTraces(): Trace[] {
  return readRecordings(FIXTURES).map(({ name, lines }) => ({ name, steps: lines as unknown as Step[] }));
}

/** Every thread that was started, resumed or forked is a session; all of them get everything. */
export function replay(trace: Trace, options: CodexTranslateOptions = {}): Happened[] {
  const states: CodexState[] = [];
  const happened: Happened[] = [];
  const tell = (state: CodexState, reports: CodexReport[]): void => {
    const root = states.indexOf(state);
    happened.push(...reports.map((report) => ({ root, report })));
  };
  for (const { dir, of, msg } of trace.steps) {
    const { id, method, params } = msg;
    if (of?.startsWith("thread/") === true && msg.result !== undefined) {
      const state = stateFor(states, msg.result, options);
      tell(state, onStarted(state, msg.result));
    } else if (dir === "in" && method !== undefined && id !== undefined) {
      const state = states.find((each) => ownsThread(each, String(params?.["threadId"])));
      if (state === undefined) throw new Error(`${trace.name}: nobody owns ${JSON.stringify(msg)}`);
      happened.push({ root: states.indexOf(state), ask: toAsk(state, { id, method, params }) });
    } else if (dir === "in" && method !== undefined) {
      const params = msg.params ?? {};
      for (const state of states) tell(state, translate(state, { ...msg, method, params }));
    } else if (dir === "out" && method === undefined && id !== undefined) {
      happened.push(...answer(states, id, msg.result));
    }
  }
  for (const state of states) tell(state, closeOpenItems(state));
  return happened;
}

/** As written in *.agent.jsonl: the event itself, or the signal between events. */
export function toLine(happened: Happened): JsonObject {
  const root = happened.root === 0 ? {} : { root: happened.root };
  if ("ask" in happened) return { ...root, ask: happened.ask };
  if ("answered" in happened) return { ...root, answered: happened.answered.native_id };
  if (happened.report.kind === "event") return { ...root, ...happened.report.event };
  const { kind: signal, ...rest } = happened.report;
  return { ...root, signal, ...rest };
}

function stateFor(states: CodexState[], result: JsonObject, options: CodexTranslateOptions): CodexState {
  const threadId = String((result["thread"] as JsonObject)["id"]);
  const known = states.find((state) => state.threadId === threadId);
  if (known !== undefined) return known;
  const state = createState({ threadId, options, codexHome: "/home/user/.codex" });
  states.push(state);
  return state;
}

function answer(states: CodexState[], id: string | number, result: unknown): Happened[] {
  return states.flatMap((state, root) => {
    const answered = findPendingAsk(state, toNativeId(id));
    if (answered === undefined) return [];
    noteAnswered(state, answered.native_id);
    return [{ root, answered, result }];
  });
}
