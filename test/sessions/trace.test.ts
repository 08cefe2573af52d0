// A recording of a session: complete enough to replay to the same effects, and without any user or agent text.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replay } from "../../src/sessions/core/replay.ts";
import { createScrub } from "../../src/sessions/core/scrub.ts";
import { askOf, rowOf, settle, stage, user } from "./fakes.ts";
import { runOf, spawn, world } from "./system.ts";

const SECRET = "hunter2-the-password";

async function recorded(): Promise<{ dir: string; lines: string[] }> {
  const dir = join(mkdtempSync(join(tmpdir(), "blemees-trace-")), "traces");
  const on = stage({ traceDir: dir });
  const ann = { id: "ann" };
  await on.open(ann, { options: { token: SECRET } });
  await on.hub.send(ann, "s", user(SECRET));
  on.backend.last.event({ type: "agent.system_init", model: "m", cwd: `/home/${SECRET}` });
  on.backend.last.event({ type: "agent.delta", kind: "text", text: SECRET });
  on.backend.last.event({ type: "agent.tool_use", tool_use_id: "t1", name: "Bash", input: { id: SECRET } });
  on.backend.last.ask(askOf("a"));
  await settle();
  await on.hub.interrupt(ann, "s", () => undefined);
  await settle();
  await on.hub.close(ann, "s", { delete: false, deleteTranscript: false });
  await settle();
  const text = readFileSync(join(dir, "s.jsonl"), "utf8");
  return { dir, lines: text.split("\n") };
}

test("replays to the same effects, up to the closed session", async () => {
  const { lines } = await recorded();
  const steps = [...replay(lines)];
  expect(steps.filter(({ recorded: other }) => other !== undefined)).toEqual([]);
  expect(steps.map(({ input }) => input.kind)).toEqual(
    expect.arrayContaining(["job", "started", "event", "asked", "requests", "interrupt", "written"]),
  );
  expect(steps.at(-1)?.state.phase).toEqual({ name: "closed" });
  expect(steps.flatMap(({ effects }) => effects)).toEqual(expect.arrayContaining(["start", "give", "own"]));
});

test("contains no text from users, agents or options", async () => {
  const { lines } = await recorded();
  expect(lines.join("\n")).not.toContain(SECRET);
  expect(lines.join("\n")).toContain(`(${SECRET.length} characters)`);
});

test("a foreign line is reported by its number", () => {
  expect(() => [...replay(['{"hello":1}'])]).toThrow(/line 1: not a session recording.*BLEMEESD_TRACE_DIR/);
  expect(() => [...replay([])]).toThrow(/line 1/);
});

test("an unwritable directory loses the recording, not the session", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "blemees-trace-")), "file");
  writeFileSync(file, "");
  const on = stage({ traceDir: join(file, "below") });
  const ann = { id: "ann" };
  await on.open(ann);
  await on.hub.send(ann, "s", user("hello"));
  on.backend.last.result();
  await settle();
  expect(on.hub.table.session("s").row.last_result?.subtype).toBe("success");
});

test("a second run in the same file replays too, even with repeated keys", async () => {
  const dir = mkdtempSync(join(tmpdir(), "blemees-trace-"));
  const first = await world({ traceDir: dir });
  await spawn(first, "a");
  for (const key of ["key-one", "key-two", "key-one"])
    await first.manager.input({ session_id: "a", message: user(key), key });
  await settle(20);
  const second = await world({ traceDir: dir, store: first.store });
  await settle(20);
  await second.manager.input({ session_id: "a", message: user("more"), key: "key-ten" });
  await settle(20);
  for (let turn = 0; turn < 5; turn += 1) {
    runOf(second, "a").result();
    await settle(20);
  }
  const session = second.hub.table.session("a");
  expect(await session.close("idle_timeout", "idle")).toBe(true);
  const steps = [...replay(readFileSync(join(dir, "a.jsonl"), "utf8").split("\n"))];
  expect(steps.filter(({ recorded: other }) => other !== undefined)).toEqual([]);
  expect(steps.at(-1)?.state.phase).toEqual({ name: "closed" });
});

test("turns that the agent forgets replay to the same effects", async () => {
  const dir = mkdtempSync(join(tmpdir(), "blemees-trace-"));
  const on = await world({ traceDir: dir });
  await spawn(on, "a");
  await settle();
  runOf(on, "a").result();
  await settle();
  const turns = [{ turn: 1, turn_id: runOf(on, "a").turns[0] ?? "" }];
  expect(await on.hub.table.use("a", (session) => session.rewind(turns))).toEqual({
    first: turns[0]?.turn_id,
  });
  const steps = [...replay(readFileSync(join(dir, "a.jsonl"), "utf8").split("\n"))];
  expect(steps.filter(({ recorded: other }) => other !== undefined)).toEqual([]);
  expect(steps.flatMap(({ effects }) => effects)).toEqual(expect.arrayContaining(["rewind", "stop"]));
});

test("a session created without an owner replays as idle", async () => {
  const dir = mkdtempSync(join(tmpdir(), "blemees-trace-"));
  const on = stage({ traceDir: dir });
  on.store.saved.set("s", rowOf("s"));
  await on.hub.table.ready;
  const session = await on.hub.table.revive("s");
  expect(await session.close("idle_timeout", "idle")).toBe(true);
  const steps = [...replay(readFileSync(join(dir, "s.jsonl"), "utf8").split("\n"))];
  expect(steps.at(-1)?.state.phase).toEqual({ name: "closed" });
});

test("no user or agent text hides under a name of ours, in a name, or in a number", () => {
  const event = {
    type: "agent.tool_use",
    tool_use_id: "t1",
    name: "mail",
    input: { message_id: "m1", code: SECRET, reason: SECRET, [SECRET]: 1, pin: 4711 },
    permission: { decision: "deny", reason: SECRET },
    data: { status: SECRET, id: SECRET },
    raw: { id: SECRET, request: { tool_input: { code: SECRET } } },
  };
  const row = { options: { env: { [SECRET]: SECRET } }, inputs: [{ key: SECRET, hash: SECRET }] };
  const scrub = createScrub();
  const text = JSON.stringify([
    scrub({ kind: "event", event }),
    scrub(row),
    scrub({ input: { key: SECRET } }),
  ]);
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain("4711");
  expect(text).toContain("t1");
});

test("an event nested too deeply to be written affects neither the session nor the recording", async () => {
  const dir = mkdtempSync(join(tmpdir(), "blemees-trace-"));
  const on = stage({ traceDir: dir });
  const ann = { id: "ann" };
  const ear = await on.open(ann);
  await on.hub.send(ann, "s", user("hello"));
  let deep: object = {};
  for (let n = 0; n < 20_000; n += 1) deep = { deep };
  on.backend.last.event({ type: "agent.tool_use", tool_use_id: "t1", name: "x", input: deep });
  on.backend.last.result();
  await settle();
  expect(ear.of("agent.result")).toHaveLength(1);
  expect(readFileSync(join(dir, "s.jsonl"), "utf8")).toContain("agent.result");
});
