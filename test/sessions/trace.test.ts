// A recording of a session: whole enough to be replayed to the same effects, and without what anybody said.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { replay } from "../../src/sessions/core/replay.ts";
import { askOf, settle, stage, user } from "./fakes.ts";

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

test("holds nothing of what people, agents and options say", async () => {
  const { lines } = await recorded();
  expect(lines.join("\n")).not.toContain(SECRET);
  expect(lines.join("\n")).toContain(`(${SECRET.length} characters)`);
});

test("a line of something else is named by its number", () => {
  expect(() => [...replay(['{"hello":1}'])]).toThrow(/line 1 is not of a recording.*BLEMEESD_TRACE_DIR/);
  expect(() => [...replay([])]).toThrow(/line 1/);
});

test("a directory that cannot be written costs the recording, not the session", async () => {
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
