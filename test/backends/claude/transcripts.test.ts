import { existsSync, mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { getProjectsDir } from "../../../src/backends/claude/paths.ts";
import { toSlug, toTranscriptPath } from "../../../src/backends/claude/transcript-path.ts";
import {
  deleteTranscript,
  findTranscript,
  listTranscripts,
} from "../../../src/backends/claude/transcripts.ts";
import { tempDir } from "../temp-dir.ts";

const root = tempDir("transcripts");
const user = (content: unknown, more: object = {}) => ({
  type: "user",
  message: { role: "user", content },
  ...more,
});
const answer = (model: string) => ({ type: "assistant", message: { model, content: [] } });

function home(): { CLAUDE_CONFIG_DIR: string } {
  return { CLAUDE_CONFIG_DIR: mkdtempSync(join(root, "home-")) };
}

function put(env: { CLAUDE_CONFIG_DIR: string }, cwd: string, id: string, records: unknown[]): string {
  const file = toTranscriptPath(getProjectsDir(env), cwd, id);
  mkdirSync(dirname(file), { recursive: true });
  const lines = records.map((record) => (typeof record === "string" ? record : JSON.stringify(record)));
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
  return file;
}

describe("slugOf", () => {
  test("every character but letters and digits becomes a dash, as claude 2.1.197 does it", () => {
    expect(toSlug("/home/me/My_proj.x ü")).toBe("-home-me-My-proj-x--");
  });

  test("over 200 characters it is cut and gets claude's own hash", () => {
    const slug = toSlug(`/${"x".repeat(120)}/${"y".repeat(120)}`);
    expect(slug).toMatch(/^-x{120}-y{78}-[0-9a-z]+$/);
    expect(slug).not.toBe(toSlug(`/${"x".repeat(120)}/${"y".repeat(121)}`));
  });
});

describe("listTranscripts", () => {
  test("a row of one cwd has no cwd and no model, a row of all has both", async () => {
    const env = home();
    put(env, "/p/one", "a", [{ type: "queue-operation" }, user("hello", { cwd: "/p/one" }), answer("opus")]);
    const [row] = await listTranscripts(env, { cwd: "/p/one" });
    expect(row).toEqual({
      session_id: "a",
      backend: "claude",
      attached: false,
      mtime_ms: expect.any(Number),
      size: expect.any(Number),
      preview: "hello",
    });
    expect(await listTranscripts(env, {})).toEqual([{ ...row, cwd: "/p/one", model: "opus" }]);
  });

  test("/a/b and /a-b share a directory but not their sessions", async () => {
    const env = home();
    put(env, "/a/b", "mine", [user("x", { cwd: "/a/b" })]);
    put(env, "/a-b", "theirs", [user("y", { cwd: "/a-b" })]);
    expect((await listTranscripts(env, { cwd: "/a/b" })).map((row) => row.session_id)).toEqual(["mine"]);
  });

  test.each<[string, unknown[], string | undefined]>([
    ["text blocks", [user([{ type: "image" }, { type: "text", text: "look" }])], "look"],
    [
      "what the user did not write is passed over",
      [
        user("meta", { isMeta: true }),
        user("side", { isSidechain: true }),
        user("<command-name>/clear</command-name>"),
        user([{ type: "tool_result", content: "x" }]),
        user("real"),
      ],
      "real",
    ],
    ["at most 200 characters", [user("é".repeat(500))], "é".repeat(200)],
    ["broken lines are passed over", ["{torn", "", "7", user("after")], "after"],
    [
      "the user line after big attachments",
      [{ type: "attachment", pad: "x".repeat(150_000) }, user("late")],
      "late",
    ],
    ["nothing to show", [{ type: "summary" }], undefined],
  ])("preview: %s", async (_name, records, preview) => {
    const env = home();
    put(env, "/p", "a", records);
    expect((await listTranscripts(env, { cwd: "/p" }))[0]?.preview).toBe(preview);
  });

  test("a synthetic model is no model", async () => {
    const env = home();
    put(env, "/p", "a", [user("x"), answer("<synthetic>"), answer("sonnet")]);
    expect((await listTranscripts(env, {}))[0]?.model).toBe("sonnet");
  });

  test("what sub-agents left beside a session is not listed; no directory at all is an empty list", async () => {
    const env = home();
    expect(await listTranscripts(env, {})).toEqual([]);
    const file = put(env, "/p", "a", [user("x")]);
    mkdirSync(join(dirname(file), "a", "subagents"), { recursive: true });
    writeFileSync(join(dirname(file), "a", "subagents", "agent-1.jsonl"), "{}\n");
    expect(await listTranscripts(env, {})).toHaveLength(1);
  });
});

describe("find and delete", () => {
  test("the newest of a session's transcripts is found, in whatever cwd", async () => {
    const env = home();
    utimesSync(put(env, "/old", "a", [user("old", { cwd: "/old" })]), 1, 1);
    put(env, "/new", "a", [user("new", { cwd: "/new" })]);
    expect(await findTranscript(env, "a")).toMatchObject({ session_id: "a", cwd: "/new", preview: "new" });
    expect(await findTranscript(env, "none")).toBeUndefined();
  });

  test("deleting takes the file and its sub-agents' directory, of this cwd only", async () => {
    const env = home();
    const mine = put(env, "/p", "a", [user("x")]);
    const other = put(env, "/q", "a", [user("x")]);
    mkdirSync(join(dirname(mine), "a", "subagents"), { recursive: true });
    await deleteTranscript(env, "a", "/p");
    expect([mine, join(dirname(mine), "a"), other].map(existsSync)).toEqual([false, false, true]);
  });

  test.each(["../../outside", "..", "a/b", "", ".hidden"])("the id %j never becomes a path", async (id) => {
    const env = home();
    const outside = join(env.CLAUDE_CONFIG_DIR, "outside.jsonl");
    put(env, "/p", "a", [user("x")]);
    writeFileSync(outside, "{}\n");
    await deleteTranscript(env, id, undefined);
    await deleteTranscript(env, id, "/p");
    expect(await findTranscript(env, id)).toBeUndefined();
    expect(existsSync(outside)).toBe(true);
  });
});
