// What a new user does with sm: the real claude and the real codex, answered from another shell, through a crash of the
// daemon. Only sm starts the daemon here.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { InputReply, QueueReply } from "../../../src/client/index.ts";
import type { SessionView } from "../../../src/protocol/views.ts";
import { Machine } from "./machine.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await Machine.create();
});
afterAll(() => machine.close());

const has = (file: string) => existsSync(join(machine.cwd, file));
const states = async (): Promise<Record<string, string>> => {
  const { sessions } = await machine.json<{ sessions: { session: SessionView }[] }>("children");
  return Object.fromEntries(sessions.map(({ session }) => [session.name ?? "", session.activity_state]));
};
/** How often the model was called to continue after exactly this message. */
const timesTold = (text: string) =>
  machine.responses.requests.filter(({ input }) => JSON.stringify(input.at(-1)).includes(text)).length;

test("two agents ask, one is approved from another shell, the daemon is killed, and all continue where they were", async () => {
  await machine.spawn("codex", "coder", "#mock:escalate touch from-codex");
  const writer = await machine.spawn("claude", "writer", "#mock:bash mkdir from-claude");
  const idler = await machine.sm("spawn", "claude", "-n", "idler", "--wait", "remember the grey owl");
  expect(idler).toMatchObject({ code: 0, stdout: "You said: remember the grey owl\n" });
  for (const name of ["coder", "writer"]) expect(await machine.sm("wait", name)).toMatchObject({ code: 3 });
  const [asks, rests] = ["waiting_permission", "idle"];
  expect(await states()).toEqual({ coder: asks, writer: asks, idler: rests });
  expect((await machine.sm("all")).stdout).toMatch(
    new RegExp(`^${writer.slice(0, 8)} +writer +claude +needs approval`, "m"),
  );

  const [asked] = await machine.requests("coder");
  expect((await machine.sm("requests")).stdout).toContain("touch from-codex");
  expect([has("from-codex"), has("from-claude")]).toEqual([false, false]);
  expect(await machine.sm("approve", asked?.request_id ?? "")).toMatchObject({ code: 0 });
  expect(await machine.sm("wait", "coder")).toMatchObject({ code: 0 });
  expect([has("from-codex"), has("from-claude")]).toEqual([true, false]);

  expect((await machine.sm("tail", "writer")).stdout).toContain("mkdir from-claude");
  const tail = machine.start("sm", ["tail", "-f", "writer"]);
  await tail.until("mkdir from-claude");
  const [orphan] = await machine.requests("writer");
  await machine.sm("send", "coder", "#mock:slow 600 50");
  const queued = await machine.json<InputReply>("send", "coder", "#mock:context the queued one");
  expect(queued).toMatchObject({ input: { state: "queued" }, position: 0 });
  expect(await machine.sm("wait", "coder", "--timeout", "0.2")).toMatchObject({ code: 124 });
  await machine.killDaemon();
  await tail.until("reconnecting");

  // The next sm starts it again. The dead daemon's requests are reported, and can no longer be approved.
  const again = await machine.sm("requests", "--all");
  expect(again.stderr).toContain("started blemeesd");
  expect(again.stdout).toMatch(new RegExp(`${orphan?.request_id} .*orphaned`));
  expect(await machine.requests()).toEqual([]);
  const late = await machine.sm("approve", orphan?.request_id ?? "");
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining("orphaned") });

  expect(await machine.sm("wait", "coder", "--timeout", "30")).toMatchObject({ code: 0 });
  expect((await machine.json<QueueReply>("queue", "coder")).recent).toMatchObject([
    { message_id: queued.input.message_id, state: "done", outcome: "success" },
    { state: "done", outcome: "error" },
    { state: "done", outcome: "success" },
  ]);
  expect(timesTold("the queued one")).toBe(1);

  expect(await machine.say("coder", "#mock:context")).toContain("touch from-codex");
  expect(await machine.say("writer", "#mock:context")).toContain("mkdir from-claude");
  expect(await machine.say("idler", "#mock:context")).toContain("remember the grey owl");
  await tail.until("context: [");
  expect(tail.stdout.match(/context: \[/g)).toHaveLength(1);
  expect(await tail.stop()).toMatchObject({ code: 0 });
  expect(has("from-claude")).toBe(false);
});

test("the exit status of wait distinguishes a failed turn, a stopped session and an unknown one", async () => {
  await machine.spawn("codex", "failing", "#mock:err 400");
  expect(await machine.sm("wait", "failing")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("its turn ended with error"),
  });
  expect(await machine.sm("send", "failing", "--wait", "#mock:text all is well")).toMatchObject({ code: 0 });
  expect(await machine.sm("wait", "failing")).toMatchObject({ code: 0 });
  expect(await machine.sm("stop", "failing")).toMatchObject({ code: 0 });
  expect(await machine.sm("wait", "failing")).toMatchObject({ code: 4 });
  expect(await machine.sm("wait", "nobody")).toMatchObject({ code: 4 });
});
