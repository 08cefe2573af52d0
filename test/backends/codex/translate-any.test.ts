// Whatever Codex sends, the translator survives it.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toAsk } from "../../../src/backends/codex/app-server/requests.ts";
import {
  type CodexReport,
  type CodexState,
  createState,
} from "../../../src/backends/codex/app-server/state.ts";
import { closeOpenItems, onStarted, translate } from "../../../src/backends/codex/app-server/translate.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { AgentEvent } from "../../../src/protocol/events.ts";
import { RequestPayload } from "../../../src/protocol/requests.ts";
import { readTraces } from "./translate-traces.ts";

const ROOT = "root";

describe("whatever codex prints", () => {
  const native = readTraces().flatMap(({ steps }) =>
    steps.filter(({ dir, msg }) => dir === "in" && msg.method !== undefined).map(({ msg }) => msg),
  );
  const methods = [...new Set(native.map(({ method }) => String(method)))];
  const types = ["commandExecution", "fileChange", "mcpToolCall", "collabAgentToolCall", "subAgentActivity"];
  const odd = fc.record({
    method: fc.oneof(fc.constantFrom(...methods), fc.string()),
    params: fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          threadId: fc.constantFrom(ROOT, "sub", "x"),
          turn: fc.jsonValue(),
          item: fc.record({
            id: fc.constantFrom("i1", "i2"),
            type: fc.constantFrom(...types),
            kind: fc.jsonValue(),
          }),
          itemId: fc.constantFrom("i1", "i2"),
          error: fc.jsonValue(),
          tokenUsage: fc.jsonValue(),
          requestId: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    ),
  });
  const mutated = fc
    .record({ line: fc.constantFrom(...native), path: fc.array(fc.nat(20)), value: fc.jsonValue() })
    .map(mutate);
  const options = fc.record(
    { include_raw_events: fc.boolean(), user_echo: fc.boolean() },
    { requiredKeys: [] },
  );
  const message = fc.oneof(odd, mutated);

  test("it never throws, and what comes out is valid", () => {
    fc.assert(
      fc.property(options, fc.jsonValue(), fc.array(message, { maxLength: 30 }), (chosen, result, steps) => {
        const state = createState({ threadId: ROOT, options: chosen });
        const reports = [
          ...onStarted(state, result),
          ...steps.flatMap((step) => see(state, step as JsonObject)),
          ...closeOpenItems(state),
        ];
        for (const report of reports) {
          if (report.kind === "event") expect(AgentEvent.safeParse(report.event).error).toBeUndefined();
        }
      }),
      { numRuns: 1000 },
    );
  });
});

function see(state: CodexState, step: JsonObject): CodexReport[] {
  const { id, method, params } = step;
  // A frame without a method is not a message, and stops at the connection.
  if (typeof method !== "string") return [];
  if (typeof id !== "number" && typeof id !== "string") return translate(state, { method, params });
  const ask = toAsk(state, { id, method, params });
  if ("payload" in ask) expect(RequestPayload.safeParse(ask.payload).error).toBeUndefined();
  return [];
}

/** Replaces one value somewhere inside a recorded frame, and gives it the session's ids. */
function mutate({ line, path, value }: { line: JsonObject; path: number[]; value: unknown }): JsonObject {
  const copy = structuredClone(line);
  const params = copy["params"];
  if (typeof params === "object" && params !== null && "threadId" in params) params.threadId = ROOT;
  let at: JsonObject = copy;
  for (const step of path) {
    const keys = Object.keys(at);
    const key = keys[step % Math.max(1, keys.length)] ?? "method";
    const next = at[key];
    if (typeof next !== "object" || next === null) {
      at[key] = value;
      return copy;
    }
    at = next as JsonObject;
  }
  return copy;
}
