import { expect, test } from "vitest";
import { main } from "../../../src/cli/wire/main.ts";
import { parseLine, toVerbArguments } from "../../../src/cli/wire/parse.ts";
import type { Verb } from "../../../src/cli/wire/verb.ts";
import { findVerb } from "../../../src/cli/wire/verbs.ts";

const ID = expect.stringMatching(/^req_[0-9a-f]{8}$/);
const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

function frameOf(line: string): object | undefined {
  const parsed = parseLine(line);
  return parsed?.verb.frame?.(parsed.given);
}

test.each([
  ["ping", { type: "blemeesd.ping", id: ID }],
  ["status", { type: "blemeesd.status", id: ID }],
  ["sessions", { type: "blemeesd.list_sessions", id: ID }],
  ["sessions /w", { type: "blemeesd.list_sessions", id: ID, cwd: "/w" }],
  ["sessions --live", { type: "blemeesd.list_sessions", id: ID, live: true }],
  ["sessions /w --cold", { type: "blemeesd.list_sessions", id: ID, cwd: "/w", live: false }],
  ["session-info s1", { type: "blemeesd.session_info", id: ID, session_id: "s1" }],
  [
    "open s1",
    { type: "blemeesd.open", id: ID, session_id: "s1", backend: "claude", options: { claude: {} } },
  ],
  [
    "open new backend=demo options.model=m",
    { type: "blemeesd.open", id: ID, session_id: UUID, backend: "demo", options: { demo: { model: "m" } } },
  ],
  [
    "resume s1 last_seen_seq=4",
    {
      type: "blemeesd.open",
      id: ID,
      session_id: "s1",
      backend: "claude",
      resume: true,
      last_seen_seq: 4,
      options: { claude: {} },
    },
  ],
  ["close s1", { type: "blemeesd.close", session_id: "s1", delete: false }],
  ["close s1 --delete", { type: "blemeesd.close", session_id: "s1", delete: true }],
  ["interrupt s1", { type: "blemeesd.interrupt", session_id: "s1" }],
  ["watch s1", { type: "blemeesd.watch", id: ID, session_id: "s1" }],
  ["watch s1 last_seen_seq=0", { type: "blemeesd.watch", id: ID, session_id: "s1", last_seen_seq: 0 }],
  ["unwatch s1", { type: "blemeesd.unwatch", id: ID, session_id: "s1" }],
  [
    "send s1  what's  --this {x?",
    { type: "agent.user", session_id: "s1", message: { role: "user", content: "what's  --this {x?" } },
  ],
  [
    'send-json s1 {"role":"user","content":[]}',
    { type: "agent.user", session_id: "s1", message: { role: "user", content: [] } },
  ],
  ['raw {"type":"x.y", "a": 1}', { type: "x.y", a: 1 }],
])("at the prompt, %s sends its frame", (line, frame) => {
  expect(frameOf(line)).toEqual(frame);
});

test.each(["", "   ", "# a comment", "  # another"])("the line %j does nothing", (line) => {
  expect(parseLine(line)).toBeUndefined();
});

test.each([
  ["stauts", "unknown command: stauts; did you mean status?"],
  ["frobnicate", "unknown command: frobnicate"],
  ["run hello", /^run works only in the shell/],
  ["close", "usage: close ID [--delete]"],
  ["close a b", "usage: close ID [--delete]"],
  ["close a --delte", "unknown flag --delte; did you mean --delete?"],
])("at the prompt, %s is refused: %s", (line, message) => {
  expect(() => parseLine(line)).toThrow(message);
});

test.each(["open s1 abc", "raw {x", "raw [1]", "send-json s1 {", "send s1"])("%s sends nothing", (line) => {
  expect(() => frameOf(line)).toThrow();
});

test.each(["raw {x", "send-json s1 nope"])("%s says that the JSON is invalid", (line) => {
  expect(() => frameOf(line)).toThrow(/invalid JSON/);
});

test("the aliases of help and quit are known", () => {
  expect(["?", "exit", ".q"].map((line) => parseLine(line)?.verb.name)).toEqual(["help", "quit", "quit"]);
});

test("in the shell, everything after the id is the message, flags and all", () => {
  const verb = findVerb("send") as Verb;
  const words = ["s1", "say", "--json"];
  const given = toVerbArguments(verb, { words, flags: {}, many: {} });
  expect(verb.frame?.(given)).toMatchObject({ session_id: "s1", message: { content: "say --json" } });
});

test("in the shell, a verb of the prompt is refused with where it works", async () => {
  await expect(main(["pretty", "on"], { name: "blemeesctl", version: "1.2.3" })).rejects.toThrow(
    "pretty works only at the prompt",
  );
});
