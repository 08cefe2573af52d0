// What a blemees/1 client may send, where it differs from blemees/2.
import { expect, test } from "vitest";
import { INBOUND, OPEN_FIELDS } from "../../../src/protocol/wire/blemees1.ts";

test("open has its options at the top level, including nulls", () => {
  const frame = {
    type: "blemeesd.open",
    id: "req_001",
    session_id: "s_abc",
    model: "sonnet",
    agent: null,
    disallowed_tools: [],
    include_partial_messages: true,
    replay_user_messages: false,
    resume: false,
  };
  expect(INBOUND["blemeesd.open"].parse(frame)).toEqual(frame);
  expect(OPEN_FIELDS).toEqual(["type", "id", "session_id", "resume", "last_seen_seq"]);
});

test.each([
  { session_id: "../x" },
  { session_id: "s", resume: "no" },
  { session_id: "s", last_seen_seq: -1 },
  { session_id: "s", id: 1 },
  {},
])("the envelope of open is checked: %j is refused", (frame) => {
  expect(INBOUND["blemeesd.open"].safeParse({ type: "blemeesd.open", ...frame }).success).toBe(false);
});

test("the user's message is claude.user, with the message as in blemees/2", () => {
  const frame = { type: "claude.user", session_id: "s", message: { role: "user", content: "Hello" } };
  expect(INBOUND["claude.user"].parse(frame)).toEqual(frame);
  expect(
    INBOUND["claude.user"].safeParse({ ...frame, message: { role: "system", content: "" } }).success,
  ).toBe(false);
});
