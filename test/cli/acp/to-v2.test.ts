// Updates in the terms of the draft v2: rules, and that every update of the recorded traffic stays valid.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { createUpdateState, toUpdates } from "../../../src/cli/acp/to-updates.ts";
import { type OpenText, toStateV2, toUpdateV2 } from "../../../src/cli/acp/v2/to-v2.ts";
import type { WireFrame } from "../../../src/client/index.ts";
import { readLines } from "../../backends/recorded.ts";
import { ROOT } from "../../support/root.ts";
import { Validator } from "./validator.ts";

const chunk = (
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
  words: string,
  messageId?: string,
) =>
  ({
    sessionUpdate,
    content: { type: "text", text: words },
    ...(messageId !== undefined && { messageId }),
  }) as SessionUpdate;

test("a text without an id is one message until something else comes", () => {
  const open: OpenText = {};
  const ids = [
    chunk("agent_message_chunk", "a"),
    chunk("agent_message_chunk", "b"),
    chunk("agent_thought_chunk", "c"),
    chunk("agent_message_chunk", "d"),
    chunk("agent_thought_chunk", "e", "m1"),
    chunk("agent_message_chunk", "f", "m1"),
  ].flatMap((update, at) =>
    toUpdateV2(open, update, at + 1).map((one) => "messageId" in one && one.messageId),
  );
  expect(ids).toEqual([
    "agent_message_chunk/1",
    "agent_message_chunk/1",
    "agent_thought_chunk/3",
    "agent_message_chunk/4",
    "m1/thought",
    "m1",
  ]);
});

test("a change becomes its files and a patch", () => {
  const call = (oldText: string | null): SessionUpdate => ({
    sessionUpdate: "tool_call",
    toolCallId: "t",
    title: "Edit",
    content: [{ type: "diff", path: "/w/a.ts", oldText, newText: "new\n" }],
  });
  const patch = (oldText: string | null) => toUpdateV2({}, call(oldText))[0];
  expect(patch("old\n")).toMatchObject({
    sessionUpdate: "tool_call_update",
    content: [
      {
        changes: [{ operation: "modify", path: "/w/a.ts" }],
        patch: {
          text: "diff --git a/w/a.ts b/w/a.ts\n--- a/w/a.ts\n+++ b/w/a.ts\n@@ -1,1 +1,1 @@\n-old\n+new\n",
        },
      },
    ],
  });
  expect(patch(null)).toMatchObject({
    content: [
      { changes: [{ operation: "add" }], patch: { text: expect.stringContaining("@@ -0,0 +1,1 @@") } },
    ],
  });
});

test("a failed turn says why", () => {
  expect(toStateV2({ state: "idle", stopReason: "error", message: "no money" })).toEqual({
    sessionUpdate: "state_update",
    state: "idle",
    stopReason: "error",
    error: { code: -32603, message: "no money" },
  });
});

test("recorded traffic of all agents becomes valid updates", () => {
  const validator = new Validator("v2");
  let count = 0;
  for (const agent of ["acp", "claude", "codex", "demian"]) {
    const directory = join(ROOT, "test/fixtures", agent);
    for (const name of readdirSync(directory).filter((one) => one.endsWith(".agent.jsonl"))) {
      const state = createUpdateState("/home/user/project");
      const open: OpenText = {};
      for (const [seq, frame] of readLines(join(directory, name)).entries()) {
        if (typeof frame["type"] !== "string") continue;
        for (const update of toUpdates(state, frame as WireFrame).flatMap((one) =>
          toUpdateV2(open, one, seq),
        )) {
          const params = { sessionId: "s", update };
          validator.received({ jsonrpc: "2.0", method: "session/update", params });
          count += 1;
        }
      }
    }
  }
  expect(validator.faults).toEqual([]);
  expect(count).toBeGreaterThan(1000);
});
