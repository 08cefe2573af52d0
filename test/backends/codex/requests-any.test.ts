// Answers compared with the recorded ones, and requests of any shape: nothing is lost and nothing throws.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toNativeAnswer } from "../../../src/backends/codex/app-server/answers.ts";
import {
  findPendingAsk,
  type ServerRequest,
  toAsk,
} from "../../../src/backends/codex/app-server/requests.ts";
import { createState } from "../../../src/backends/codex/app-server/state.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { type Answer, DECISIONS, RequestPayload } from "../../../src/protocol/requests.ts";
import { readTraces, replay } from "./translate-traces.ts";

const METHODS = [
  "item/commandExecution/requestApproval",
  "item/fileChange/requestApproval",
  "item/permissions/requestApproval",
  "item/tool/requestUserInput",
  "mcpServer/elicitation/request",
  "applyPatchApproval",
  "execCommandApproval",
  "odd",
];

/** The fields that requests read. */
const KEYS = [
  ...["threadId", "conversationId", "turnId", "itemId", "command", "cwd", "reason", "kind", "permissions"],
  ...["networkApprovalContext", "proposedExecpolicyAmendment", "grantRoot", "fileChanges", "questions"],
  ...["mode", "_meta", "requestedSchema", "serverName", "message", "url", "parsedCmd"],
];

describe("recorded answers", () => {
  const answered = readTraces().flatMap((trace) =>
    replay(trace).flatMap((happened) => ("answered" in happened && happened.result ? [happened] : [])),
  );

  test("are what we would have sent for the same decision", () => {
    expect(answered.length).toBeGreaterThan(20);
    for (const { answered: pending, result } of answered) {
      expect(toNativeAnswer(pending, readAnswer(result as JsonObject))).toEqual(result);
    }
  });
});

describe("whatever is asked", () => {
  const request = fc.record({
    id: fc.oneof(fc.string(), fc.integer()),
    method: fc.constantFrom(...METHODS),
    params: fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...KEYS), fc.jsonValue())),
  });
  const answers = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.string())));
  const answer: fc.Arbitrary<Answer> = fc.oneof(
    fc.record({ decision: fc.constantFrom(...DECISIONS) }),
    fc.record({ answers }),
  );

  test("what is shown is valid, can always be declined, and every answer has a reply", () => {
    fc.assert(
      fc.property(request, answer, (asked, said) => {
        const state = createState({ threadId: "root", options: {} });
        const result = toAsk(state, asked as ServerRequest);
        if (!("payload" in result)) return;
        expect(RequestPayload.safeParse(result.payload).error).toBeUndefined();
        expect(result.payload.choices).toContainEqual(expect.objectContaining({ decision: "decline" }));
        const pending = findPendingAsk(state, result.native_id);
        expect(pending && toNativeAnswer(pending, said)).toBeTypeOf("object");
      }),
      { numRuns: 1000 },
    );
  });
});

/** The user's answer that led to the recorded reply. */
function readAnswer(result: JsonObject): Answer {
  if (typeof result["decision"] === "string") return { decision: result["decision"] as "accept" };
  if ("decision" in result) return { decision: "acceptAlways" };
  if ("answers" in result) {
    const answers = Object.entries(result["answers"] as Record<string, { answers: string[] }>);
    return { answers: Object.fromEntries(answers.map(([id, value]) => [id, value.answers])) };
  }
  if ("permissions" in result) {
    const isGranted = Object.keys(result["permissions"] as JsonObject).length > 0;
    return {
      decision: isGranted ? (result["scope"] === "session" ? "acceptForSession" : "accept") : "decline",
    };
  }
  const content = result["content"] as JsonObject | null;
  if (result["action"] !== "accept") return { decision: result["action"] as "decline" };
  if (result["_meta"] !== null) return { decision: "acceptForSession" };
  const labels: Record<string, string> = { g: "Green", r: "Red" };
  const texts = Object.entries(content ?? {}).map(([key, value]) => [
    key,
    labels[String(value)] ?? String(value),
  ]);
  return { answers: Object.fromEntries(texts) };
}
