// The fallback listing: recorded rollouts of 0.166, the older form, and files that are none.
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { findRollout, listRollouts } from "../../../src/backends/codex/rollouts.ts";
import { SessionSummary } from "../../../src/protocol/session.ts";
import { tempDir } from "../temp-dir.ts";

const RECORDED = join(import.meta.dirname, "../../fixtures/codex-rollouts");
const FIRST = "01a1e081-4b55-74a0-8a2b-3165a8ca240b";
const SECOND = "01a1e081-6b20-78b0-82f7-656229101fba";

const root = tempDir("rollouts");
const newHome = () => mkdtempSync(join(root, "home-"));

const meta = (over: object = {}) => ({ type: "session_meta", payload: { id: "x", cwd: "/p", ...over } });
const context = (model: string) => ({ type: "turn_context", payload: { model } });
const said = (message: string) => ({ type: "event_msg", payload: { type: "user_message", message } });
const item = (content: unknown, type = "UserMessage") => ({
  type: "event_msg",
  payload: { type: "item_completed", item: { type, content } },
});

function put(home: string, day: string, name: string, records: unknown[]): string {
  const file = join(home, "sessions", day, name);
  mkdirSync(dirname(file), { recursive: true });
  const lines = records.map((record) => (typeof record === "string" ? record : JSON.stringify(record)));
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
  return file;
}

function putThread(home: string, id: string, records: unknown[], day = "2026/04/27"): string {
  return put(home, day, `rollout-${day.replaceAll("/", "-")}T14-42-22-${id}.jsonl`, records);
}

const idsOf = (rows: SessionSummary[]) => rows.map((row) => row.session_id);

describe("recorded rollouts of 0.166", () => {
  test("all of them, newest first, with cwd, model, first text and path", async () => {
    const rows = await listRollouts(RECORDED, {});
    expect(rows).toMatchObject([
      {
        session_id: SECOND,
        cwd: "/home/user/project",
        model: "gpt-5.5",
        preview: "#mock:patch p-accept.txt",
      },
      {
        session_id: FIRST,
        backend: "codex",
        attached: false,
        cwd: "/home/user/project",
        model: "gpt-5.5",
        preview: "first #mock:text Answer one.",
        rollout_path: expect.stringMatching(
          `sessions/2026/11/15/rollout-2026-11-15T18-38-52-${FIRST}.jsonl$`,
        ),
        size: 34022,
        mtime_ms: expect.any(Number),
      },
    ]);
    for (const row of rows) expect(SessionSummary.safeParse(row).error).toBeUndefined();
  });

  test("rows of one cwd have neither cwd nor model", async () => {
    const rows = await listRollouts(RECORDED, { cwd: "/home/user/project" });
    expect(idsOf(rows)).toEqual([SECOND, FIRST]);
    for (const row of rows) expect(Object.keys(row)).not.toEqual(expect.arrayContaining(["cwd"]));
    for (const row of rows) expect(row.model).toBeUndefined();
    expect(await listRollouts(RECORDED, { cwd: "/home/user" })).toEqual([]);
  });

  test("one is found by its thread, the others are not", async () => {
    expect(await findRollout(RECORDED, FIRST)).toMatchObject({
      session_id: FIRST,
      cwd: "/home/user/project",
      model: "gpt-5.5",
    });
    expect(await findRollout(RECORDED, "01a1e081-0000-74a0-8a2b-3165a8ca240b")).toBeUndefined();
  });
});

describe("rollouts of older versions", () => {
  const configured = { type: "session_configured", session_id: "x", model: "gpt-5-codex", cwd: "/p" };
  const sent = (text: string, role = "user") => ({
    type: "response_item",
    payload: { type: "message", role, content: [{ type: "input_text", text }] },
  });

  test.each<[string, object]>([
    ["as a line of its own", configured],
    ["under msg", { id: "0", msg: configured }],
    ["under payload", { type: "event_msg", payload: configured }],
    ["under payload of another type", { type: "session", payload: configured }],
  ])("a head `session_configured` %s is listed", async (_name, head) => {
    const home = newHome();
    const file = putThread(home, "old", [head, said("hello")]);
    const row = { session_id: "old", cwd: "/p", model: "gpt-5-codex", preview: "hello", rollout_path: file };
    expect(await listRollouts(home, {})).toMatchObject([row]);
    expect(idsOf(await listRollouts(home, { cwd: "/p" }))).toEqual(["old"]);
    expect(await listRollouts(home, { cwd: "/other" })).toEqual([]);
    expect(await findRollout(home, "old")).toMatchObject(row);
  });

  test("a head `response_item` is listed, with the first text that the user wrote", async () => {
    const home = newHome();
    putThread(home, "old", [
      sent("be brief", "developer"),
      sent("<environment_context>\n</environment_context>"),
      sent("# AGENTS.md instructions for /p"),
      sent("fix the tests"),
      sent("and the docs"),
    ]);
    const [row, ...others] = await listRollouts(home, {});
    expect(others).toEqual([]);
    expect(row).toMatchObject({ session_id: "old", preview: "fix the tests" });
    expect(row).not.toHaveProperty("cwd");
  });

  test("the user's own message is preferred to the model's input", async () => {
    const home = newHome();
    putThread(home, "a", [meta(), sent("with all the instructions"), said("hello")]);
    expect(await listRollouts(home, {})).toMatchObject([{ preview: "hello" }]);
  });

  test("a user's message under msg, or as a line of its own, is the preview", async () => {
    const home = newHome();
    putThread(home, "a", [configured, { id: "1", msg: { type: "user_message", message: "one" } }]);
    putThread(home, "b", [configured, { type: "user_message", message: "two" }], "2026/04/26");
    expect((await listRollouts(home, {})).map(({ preview }) => preview)).toEqual(["one", "two"]);
  });
});

describe("what a list shows", () => {
  test.each<[string, unknown[], string | undefined]>([
    ["the text as 0.125 wrote it", [said("hello"), said("later")], "hello"],
    ["the text block after an image", [item([{ type: "image" }, { type: "text", text: "look" }])], "look"],
    ["no other item", [item([{ type: "Text", text: "I am Codex" }], "AgentMessage"), said("me")], "me"],
    ["not what Codex wrote in the user's name", [said(" <environment_context>\n</…>"), said("real")], "real"],
    ["at most 200 characters", [said("é".repeat(500))], "é".repeat(200)],
    ["the text after broken lines", ["{torn", "", "7", said("after")], "after"],
    ["the text after 100 kB of instructions", [{ type: "x", pad: "é".repeat(50_000) }, said("far")], "far"],
    ["nothing", [], undefined],
  ])("preview: %s", async (_name, records, preview) => {
    const home = newHome();
    putThread(home, "a", [meta(), ...records]);
    const rows = await listRollouts(home, {});
    expect(idsOf(rows)).toEqual(["a"]);
    expect(rows[0]?.preview).toBe(preview);
  });

  test("the model is that of the first turn, the cwd that of the first line", async () => {
    const home = newHome();
    putThread(home, "a", [meta(), meta({ cwd: "/forked-from" }), context("one"), context("two")]);
    expect(await listRollouts(home, {})).toMatchObject([{ cwd: "/p", model: "one" }]);
  });

  test("newest days first, and in a day the newest file first", async () => {
    const home = newHome();
    putThread(home, "old", [meta()], "2025/12/31");
    putThread(home, "new", [meta()], "2026/04/27");
    putThread(home, "middle", [meta()], "2026/01/02");
    put(home, "2026/04/27", "rollout-2026-04-27T23-00-00-newest.jsonl", [meta()]);
    expect(idsOf(await listRollouts(home, {}))).toEqual(["newest", "new", "middle", "old"]);
  });

  test("a cwd is also found through a link", async () => {
    const home = newHome();
    const real = join(home, "real");
    mkdirSync(real);
    symlinkSync(real, join(home, "link"));
    putThread(home, "a", [meta({ cwd: real })]);
    expect(idsOf(await listRollouts(home, { cwd: join(home, "link") }))).toEqual(["a"]);
  });
});

describe("what is left out", () => {
  test.each<[string, object]>([
    ["by its source", { source: { subagent: { thread_spawn: { parent_thread_id: "p", depth: 1 } } } }],
    ["by its parent", { parent_thread_id: "p" }],
    ["by its kind of thread", { thread_source: "subagent" }],
    ["a review", { source: { subagent: "review" } }],
  ])("the thread of a sub-agent, known %s", async (_name, over) => {
    const home = newHome();
    putThread(home, "child", [meta(over), said("do this")]);
    putThread(home, "root", [meta({ source: "vscode", parent_thread_id: null }), said("hi")]);
    expect(idsOf(await listRollouts(home, {}))).toEqual(["root"]);
    expect(await findRollout(home, "child")).toBeUndefined();
  });

  test("damaged files and files that are no rollouts", async () => {
    const home = newHome();
    putThread(home, "empty", []);
    putThread(home, "garbage", ["\0\0\0", "{", said("no first line")]);
    put(home, "2026/04/27", "notes.jsonl", [meta()]);
    put(home, "2026/04/27", "rollout-2026-04-27T14-42-22-.hidden.jsonl", [meta()]);
    put(home, "tmp/04/27", "rollout-2026-04-27T14-42-22-stray.jsonl", [meta()]);
    mkdirSync(join(home, "sessions/2026/04/27/rollout-2026-04-27T14-42-22-dir.jsonl"));
    putThread(home, "good", [meta()]);
    expect(idsOf(await listRollouts(home, {}))).toEqual(["good"]);
  });

  test("a home without sessions is an empty list", async () => {
    expect(await listRollouts(newHome(), {})).toEqual([]);
    expect(await findRollout(join(root, "none"), "a")).toBeUndefined();
  });

  test.each(["../../x", "..", "a/b", "", "*"])("the id %j never becomes a path", async (id) => {
    const home = newHome();
    putThread(home, "a", [meta()]);
    expect(await findRollout(home, id)).toBeUndefined();
  });
});
