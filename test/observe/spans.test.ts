// Rows as spans: what they contain, and what only with content.
import { expect, test } from "vitest";
import { makeTraceId, makeTraceparent, makeTurnSpanId } from "../../src/base/trace-ids.ts";
import { type ToolRow, toTraces } from "../../src/observe/export/spans.ts";

const tool: ToolRow = {
  kind: "tool",
  session: { session_id: "s", root_session_id: "r", parent_session_id: "r" },
  row: {
    ...{
      session_id: "s",
      source_provider: "claude",
      turn_id: "t",
      item_id: "i",
      item_type: "commandExecution",
    },
    ...{ event_type: "failed", phase: "post", tool_name: "Bash", command: "rm secret", latency_ms: 250 },
    ...{ exit_code: 1, error_code: "exit", error_message: "no such secret", created_at_ms: 1_000 },
  },
};
const spanOf = (hasContent: boolean) =>
  JSON.parse(JSON.stringify(toTraces([tool], { version: "1", hasContent, providers: {} }))).resourceSpans[0]
    .scopeSpans[0].spans[0];

test("a call has its times, its turn as parent and the trace of its family", () => {
  expect(spanOf(false)).toMatchObject({
    name: "execute_tool Bash",
    traceId: makeTraceId("r"),
    parentSpanId: makeTurnSpanId("s", "t"),
    startTimeUnixNano: "750000000",
    endTimeUnixNano: "1000000000",
    status: { code: 2 },
  });
});

test("commands and error texts are left out unless they are wanted", () => {
  expect(JSON.stringify(spanOf(false))).not.toContain("secret");
  expect(JSON.stringify(spanOf(true))).toMatch(/rm secret.*no such secret/);
});

test("an agent's environment names the trace of its family and the span of its session", () => {
  const value = makeTraceparent({ session_id: "s", root: "r" });
  expect(value).toMatch(new RegExp(`^00-${makeTraceId("r")}-[0-9a-f]{16}-01$`));
  expect(makeTraceparent({ session_id: "r" })).toContain(makeTraceId("r"));
});
