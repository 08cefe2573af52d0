// The frames of blemees/2 as in docs/protocol.md: accepted, returned unchanged, and strict where the protocol is.
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { INBOUND, type InboundType } from "../../../src/protocol/wire/blemees2.ts";
import { AGENT_FRAMES, OUTBOUND } from "../../../src/protocol/wire/blemees2-outbound.ts";

const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };

/** Good frames, most of them from the protocol's examples. */
const GOOD: { [T in InboundType]: object[] } = {
  "blemeesd.hello": [
    { client: "your-tool/0.1", protocol: "blemees/2" },
    { protocol: "blemees/2" },
    { protocol: "blemees/2", features: ["requests", "later"] },
  ],
  "blemeesd.open": [
    {
      id: "r",
      session_id: "s_abc",
      backend: "claude",
      resume: false,
      last_seen_seq: 0,
      options: { claude: {} },
    },
    { session_id: "s", backend: "codex", options: {} },
    { session_id: "s", backend: "codex", options: {}, answers: "any" },
    { session_id: "s", backend: "claude", options: { claude: { model: "sonnet" }, codex: { x: 1 } } },
  ],
  "agent.user": [
    { session_id: "s_abc", message: { role: "user", content: "Hello" } },
    { session_id: "s_abc", message: { role: "user", content: [{ type: "text", text: "?" }, image] } },
    { session_id: "s_abc", message: { role: "user", content: "", priority: "now" } },
  ],
  "blemeesd.interrupt": [{ session_id: "s_abc" }],
  "blemeesd.close": [{ id: "req_099", session_id: "s_abc", delete: true }, { session_id: "s_abc" }],
  "blemeesd.list_sessions": [{}, { id: "x", cwd: "/home/u/proj", live: false }],
  "blemeesd.ping": [{}, { id: "req_1", data: { any: [1] } }, { data: null }],
  "blemeesd.status": [{}, { id: "req_2" }],
  "blemeesd.watch": [{ session_id: "s" }, { id: "req_3", session_id: "s_abc", last_seen_seq: 0 }],
  "blemeesd.unwatch": [{ id: "req_4", session_id: "s_abc" }],
  "blemeesd.session_info": [{ id: "req_5", session_id: "s_abc" }],
  "blemeesd.list_requests": [
    {},
    { id: "req_6", session_id: "s_abc", include_orphaned: true, include_settled: false },
  ],
  "blemeesd.respond": [
    { session_id: "s", request_id: "r", answer: { decision: "accept" } },
    {
      id: "req_7",
      session_id: "s",
      request_id: "r",
      answer: { decision: "cancel", message: "no", updated_input: { command: "ls" } },
      shown_hash: "ab",
      source: "tui",
    },
    { session_id: "s", request_id: "r", answer: { answers: { a: "x", b: ["y", "z"] } }, source: "api" },
  ],
};

/** Inbound checks: each has one fault. `"false"` once deleted and `"no"` once resumed. */
const BAD: [type: InboundType, frame: object, field: string][] = [
  ["blemeesd.hello", { protocol: 2 }, "protocol"],
  ["blemeesd.hello", { protocol: "blemees/2", extra: 1 }, "extra"],
  ["blemeesd.open", { session_id: "s", backend: "claude" }, "options"],
  ["blemeesd.open", { session_id: "s", backend: "claude", options: [] }, "options"],
  ["blemeesd.open", { session_id: "s", backend: "claude", options: { claude: 1 } }, "options"],
  ["blemeesd.open", { session_id: "s", backend: "claude", options: { claude: null } }, "options"],
  ["blemeesd.open", { session_id: "s", options: {} }, "backend"],
  ["blemeesd.open", { session_id: "s", backend: null, options: {} }, "backend"],
  ["blemeesd.open", { session_id: "", backend: "claude", options: {} }, "session_id"],
  ["blemeesd.open", { session_id: 7, backend: "claude", options: {} }, "session_id"],
  ["blemeesd.open", { session_id: "s", backend: "claude", options: {}, resume: "no" }, "resume"],
  ["blemeesd.open", { session_id: "s", backend: "claude", options: {}, resume: 1 }, "resume"],
  ["blemeesd.open", { session_id: "s", backend: "claude", options: {}, last_seen_seq: -1 }, "last_seen_seq"],
  ["blemeesd.open", { session_id: "s", backend: "claude", options: {}, last_seen_seq: 1.5 }, "last_seen_seq"],
  [
    "blemeesd.open",
    { session_id: "s", backend: "claude", options: {}, last_seen_seq: 2 ** 60 },
    "last_seen_seq",
  ],
  ["blemeesd.open", { session_id: "s", backend: "claude", options: {}, id: 5 }, "id"],
  ["blemeesd.open", { session_id: "s", backend: "claude", options: {}, model: "x" }, "model"],
  ["agent.user", { session_id: "s", message: { role: "assistant", content: "x" } }, "message"],
  ["agent.user", { session_id: "s", message: { role: "user", content: 5 } }, "message"],
  ["agent.user", { session_id: "s", message: { role: "user", content: ["text"] } }, "message"],
  ["agent.user", { session_id: "s", message: { role: "user" } }, "message"],
  ["agent.user", { session_id: "s", message: "hi" }, "message"],
  ["agent.user", { session_id: "s", message: { role: "user", content: "x" }, id: "no" }, "id"],
  ["blemeesd.interrupt", { session_id: "s", id: "no" }, "id"],
  ["blemeesd.close", { session_id: "s", delete: "false" }, "delete"],
  ["blemeesd.close", {}, "session_id"],
  ["blemeesd.list_sessions", { cwd: "" }, "cwd"],
  ["blemeesd.list_sessions", { live: "true" }, "live"],
  ["blemeesd.ping", { id: 1 }, "id"],
  ["blemeesd.status", { verbose: true }, "verbose"],
  ["blemeesd.watch", { session_id: "s", last_seen_seq: "0" }, "last_seen_seq"],
  ["blemeesd.unwatch", { session_id: null }, "session_id"],
  ["blemeesd.session_info", { session_id: "a/b" }, "session_id"],
  ["blemeesd.hello", { protocol: "blemees/2", features: "requests" }, "features"],
  ["blemeesd.open", { session_id: "s", backend: "claude", options: {}, answers: "all" }, "answers"],
  ["blemeesd.list_requests", { session_id: "" }, "session_id"],
  ["blemeesd.list_requests", { include_orphaned: "yes" }, "include_orphaned"],
  ["blemeesd.respond", { session_id: "s", answer: { decision: "accept" } }, "request_id"],
  ["blemeesd.respond", { session_id: "s", request_id: "", answer: { decision: "accept" } }, "request_id"],
  ["blemeesd.respond", { session_id: "s", request_id: "r" }, "answer"],
  ["blemeesd.respond", { session_id: "s", request_id: "r", answer: { decision: "yes" } }, "answer"],
  ["blemeesd.respond", { session_id: "s", request_id: "r", answer: {} }, "answer"],
  [
    "blemeesd.respond",
    { session_id: "s", request_id: "r", answer: { decision: "accept" }, source: "policy" },
    "source",
  ],
];

describe("inbound", () => {
  const good = Object.entries(GOOD).flatMap(([type, frames]) => frames.map((frame) => ({ type, ...frame })));
  test.each(good)("$type is accepted and unchanged", (frame) => {
    const schema = INBOUND[frame.type as InboundType];
    expect(schema.parse(JSON.parse(JSON.stringify(frame)))).toEqual(frame);
  });

  test.each(BAD)("%s %j is refused for its field %s", (type, frame, field) => {
    const issues = INBOUND[type].safeParse({ type, ...frame }).error?.issues ?? [];
    const named = issues.map((issue) => (issue.code === "unrecognized_keys" ? issue.keys : issue.path)[0]);
    expect(named).toContain(field);
  });
});

const REQUEST = {
  request_id: "r",
  session_id: "s",
  backend: "codex",
  request_type: "command",
  status: "pending",
  payload: { title: "ls", command: "ls", choices: [{ decision: "accept" }, { decision: "decline" }] },
  shown_hash: "ab",
  requested_at_ms: 1,
  generation: "g",
};

/** The frames of the protocol's examples, as the daemon sends them. */
const SENT: Record<string, unknown>[] = [
  {
    type: "blemeesd.hello_ack",
    daemon: "blemeesd/0.1",
    protocol: "blemees/2",
    pid: 1,
    backends: { claude: "2.1" },
  },
  { type: "blemeesd.opened", id: "r", session_id: "s", backend: "claude", subprocess_pid: 5, last_seq: 0 },
  { type: "blemeesd.error", id: "r", session_id: "s", code: "spawn_failed", message: "..." },
  { type: "blemeesd.error", session_id: "s", seq: 4, backend: "claude", code: "auth_failed", message: "Run" },
  { type: "blemeesd.error", code: "request_expired", message: "...", data: { request_id: "r" } },
  { type: "blemeesd.interrupted", session_id: "s", was_idle: true },
  { type: "blemeesd.requests", id: "r", session_id: "s", requests: [REQUEST] },
  { type: "blemeesd.responded", session_id: "s", request_id: "r", repeated: false, request: REQUEST },
  { type: "blemeesd.closed", id: "r", session_id: "s" },
  { type: "blemeesd.session_taken", session_id: "s", by_peer_pid: 12345 },
  { type: "blemeesd.session_closed", session_id: "s", reason: "owner_closed" },
  { type: "blemeesd.replay_gap", session_id: "s", since_seq: 42, first_available_seq: 71 },
  { type: "blemeesd.stderr", session_id: "s", seq: 3, line: "..." },
  { type: "agent.delta", session_id: "s", seq: 2, backend: "claude", kind: "text", text: "Hel" },
  { type: "agent.delta", session_id: "s", persisted: false, backend: "claude", kind: "text", text: "Hel" },
];

describe("outbound", () => {
  const schemaOf = (type: string) => AGENT_FRAMES[type] ?? OUTBOUND[type as keyof typeof OUTBOUND];

  test.each(SENT)("$type matches its schema, unchanged", (frame) => {
    expect(schemaOf(String(frame["type"]))?.parse(frame)).toEqual(frame);
  });

  test("an unknown field, a null or a wrong code does not match", () => {
    const closed = { type: "blemeesd.closed", session_id: "s" };
    expect(OUTBOUND["blemeesd.closed"].safeParse({ ...closed, seq: 1 }).success).toBe(false);
    expect(OUTBOUND["blemeesd.closed"].safeParse({ ...closed, id: null }).success).toBe(false);
    const error = { type: "blemeesd.error", code: "oops", message: "" };
    expect(OUTBOUND["blemeesd.error"].safeParse(error).success).toBe(false);
  });

  test("the eight agent.* events of the protocol exist, each with the envelope", () => {
    expect(Object.keys(AGENT_FRAMES).sort()).toEqual(
      ["delta", "message", "notice", "result", "system_init", "tool_result", "tool_use", "user_echo"].map(
        (name) => `agent.${name}`,
      ),
    );
    for (const schema of Object.values(AGENT_FRAMES)) {
      expect(Object.keys(schema.shape)).toEqual(
        expect.arrayContaining(["session_id", "seq", "persisted", "backend"]),
      );
    }
  });
});

describe("JSON Schema", () => {
  const all = { ...INBOUND, ...OUTBOUND, ...AGENT_FRAMES } as Record<string, z.ZodType>;
  test.each(Object.keys(all))("%s can be written as JSON Schema 2020-12", (type) => {
    const io = type in INBOUND ? "input" : "output";
    const schema = z.toJSONSchema(all[type] as z.ZodType, { io }) as Record<string, unknown>;
    expect(schema["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema");
    expect(schema["type"]).toBe("object");
    expect(schema["properties"]).toMatchObject({ type: { const: type } });
  });
});
