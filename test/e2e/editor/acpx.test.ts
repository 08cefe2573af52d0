// acpx, a published ACP client, drives every verb of `blemees acp`, with the real claude behind it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { killLeft } from "../../outlive/proof.ts";
import { Machine, type Ran } from "../manager/machine.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await Machine.create();
});
afterAll(async () => {
  // Its process that keeps the connection between two commands.
  killLeft(machine.home);
  await machine.close();
});

async function acpx(...args: string[]): Promise<Ran> {
  const program = process.env["E2E_ACPX"] ?? "acpx";
  const how = [program, "--agent", "sm acp --agent claude", ...args];
  const ran = await machine.start(process.execPath, how).ended();
  expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0 });
  return ran;
}

test("a session is started, written to, listed, interrupted, read again and closed", async () => {
  expect((await acpx("exec", "hello")).stdout).toContain("You said: hello");
  await acpx("sessions", "new", "--name", "one");
  expect((await acpx("prompt", "-s", "one", "remember the grey owl")).stdout).toContain(
    "You said: remember the grey owl",
  );
  await acpx("--approve-all", "prompt", "-s", "one", "#mock:bash mkdir made-in-the-editor");
  expect(existsSync(join(machine.cwd, "made-in-the-editor"))).toBe(true);
  expect((await acpx("sessions", "history", "one")).stdout).toContain("remember the grey owl");
  await acpx("set", "-s", "one", "agent", "claude");

  const [view] = await machine.http.sessions({ archived: false, limit: 1 });
  const id = view?.session_id ?? "";
  expect(view).toMatchObject({ backend: "claude", cwd: machine.cwd, turns: 2 });
  expect((await acpx("sessions", "list")).stdout).toContain(id);

  const slow = acpx("prompt", "-s", "one", "#mock:slow 600 50");
  const working = async () => (await machine.http.session(id)).turn !== undefined;
  await expect.poll(working, { timeout: 45_000 }).toBe(true);
  await acpx("cancel", "-s", "one");
  await slow;
  expect(await machine.http.session(id)).toMatchObject({ last_result: { subtype: "interrupted" } });

  // In the shell it goes on, with the whole conversation.
  expect((await machine.sm("send", id, "--wait", "hello from the shell")).stdout).toContain(
    "hello from the shell",
  );
  expect(JSON.stringify(machine.anthropic.requests.at(-1))).toContain("remember the grey owl");
  await acpx("sessions", "close", "one");
  expect(await machine.http.session(id)).toMatchObject({ turns: 4 });
});
