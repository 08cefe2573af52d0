// The record of a session on disk: complete, in order, private, and never blocking.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EventBody, RuntimeEvent } from "../../src/runtime/events.ts";
import { openTranscript } from "../../src/runtime/transcript.ts";

let root: string;
let problems: string[];
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "demian-transcript-")));
  problems = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const event = (body: EventBody): RuntimeEvent => ({ ...body, sessionId: "s1", agent: "build", ts: 1 });
const warning = (message: string) => event({ type: "warning", message });
const open = (sessionId = "s1") =>
  openTranscript({ root, sessionId, onProblem: (message) => problems.push(message) });
const file = () => join(root, ".demian/transcripts/s1/session.jsonl");
const lines = () =>
  readFileSync(file(), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("a transcript", () => {
  test("has a line for each event in order, without the pieces whose whole follows", () => {
    const transcript = open();
    transcript.write(event({ type: "user.message", text: "hello" }));
    transcript.write(event({ type: "model.text.delta", text: "h" }));
    transcript.write(event({ type: "model.reasoning.delta", text: "h" }));
    transcript.write(event({ type: "tool.output", callId: "c", text: "x" }));
    transcript.write(event({ type: "model.text", text: "hi", final: true }));
    expect(lines()).toEqual([
      { type: "user.message", text: "hello", sessionId: "s1", agent: "build", ts: 1 },
      { type: "model.text", text: "hi", final: true, sessionId: "s1", agent: "build", ts: 1 },
    ]);
    transcript.close();
    transcript.close();
    expect(problems).toEqual([]);
  });

  test("is for the user alone, and git does not see it", () => {
    open().close();
    const mode = (path: string) => statSync(join(root, path)).mode & 0o777;
    expect(mode(".demian/transcripts/s1/session.jsonl")).toBe(0o600);
    expect(mode(".demian/transcripts/s1")).toBe(0o700);
    expect(mode(".demian/transcripts")).toBe(0o700);
    expect(readFileSync(join(root, ".demian/transcripts/.gitignore"), "utf8")).toBe("*\n");
  });

  test("continues where it ended, on a new line if the last one was torn", () => {
    const first = open();
    first.write(warning("one"));
    first.close();
    writeFileSync(file(), '{"type":"warn', { flag: "a" });
    const second = open();
    second.write(warning("two"));
    second.write(warning("three"));
    second.close();
    const found = readFileSync(file(), "utf8").split("\n");
    expect(found.map((line) => /"message":"(\w+)"/.exec(line)?.[1])).toEqual([
      "one",
      undefined,
      "two",
      "three",
      undefined,
    ]);
  });

  test("cuts long texts with a mark, and a line that is still too long to its names", () => {
    const transcript = open();
    const content = "x".repeat(100_000);
    const done = {
      type: "tool.completed",
      callId: "c",
      name: "bash",
      ok: true,
      preview: "",
      durationMs: 1,
    } as const;
    transcript.write(event({ ...done, content }));
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, content]));
    transcript.write(event({ ...done, content: "", metadata: many }));
    const [first, second] = lines();
    expect(first?.["content"]).toMatch(/^x{65536} \[…34464 more characters omitted\]$/);
    expect(second).toMatchObject({
      type: "tool.completed",
      callId: "c",
      cut: expect.stringMatching(/omitted/),
    });
    expect(statSync(file()).size).toBeLessThan(200_000);
  });

  test("survives input that is nested without end", () => {
    let input: unknown = "x";
    for (let depth = 0; depth < 20_000; depth += 1) input = [input];
    open().write(event({ type: "tool.requested", callId: "c", name: "bash", input }));
    expect(lines()).toHaveLength(1);
    expect(problems).toEqual([]);
  });
});

describe("obstacles", () => {
  test.each([
    ".demian",
    ".demian/transcripts",
    ".demian/transcripts/s1",
    ".demian/transcripts/s1/session.jsonl",
  ])("a link at %s is not followed; the session continues and it is reported once", (path) => {
    const outside = realpathSync(mkdtempSync(join(tmpdir(), "demian-outside-")));
    mkdirSync(join(root, path, ".."), { recursive: true });
    symlinkSync(path.endsWith("jsonl") ? join(outside, "stolen") : outside, join(root, path));
    const transcript = open();
    transcript.write(warning("one"));
    transcript.write(warning("two"));
    transcript.close();
    expect(readdirSync(outside)).toEqual([]);
    expect(problems).toEqual([expect.stringMatching(/session\.jsonl is incomplete/)]);
    rmSync(outside, { recursive: true });
  });

  test("a file in place of a directory is reported", () => {
    writeFileSync(join(root, ".demian"), "");
    open().write(warning("one"));
    expect(problems).toHaveLength(1);
  });

  test("a write that fails is reported once, and the session continues", () => {
    const transcript = open();
    // A value that JSON cannot encode represents every write failure.
    const bad = event({ type: "tool.requested", callId: "c", name: "x", input: 1n });
    transcript.write(bad);
    transcript.write(bad);
    transcript.write(warning("after"));
    expect(problems).toHaveLength(1);
    expect(lines()).toMatchObject([{ message: "after" }]);
  });

  test.each(["../x", "a/b", "", ".", "a b", "x".repeat(129)])("the session id %j is refused", (sessionId) => {
    expect(() => open(sessionId)).toThrow(/is not a valid session id/);
    expect(readdirSync(root)).toEqual([]);
  });
});
