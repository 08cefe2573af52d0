// sm doctor with the real agents, and on a machine that has none.
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Machine } from "./machine.ts";

let machine: Machine;
beforeAll(async () => {
  machine = await Machine.create();
});
afterAll(() => machine.close());

interface Check {
  name: string;
  status: "ok" | "warn" | "fail";
  text: string;
  todo?: string;
}

/** By their names. */
async function checks(env: Record<string, string> = {}): Promise<Record<string, Check>> {
  const { code, stdout } = await machine.start("sm", ["doctor", "--json"], env).ended();
  const report = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  expect({ code, ok: report.ok }).toEqual({ code: 0, ok: true });
  return Object.fromEntries(report.checks.map((check) => [check.name, check]));
}

test("both agents are found with their versions; no daemon is started for it", async () => {
  const found = await checks();
  expect(found["claude"]).toMatchObject({ status: "ok", text: expect.stringMatching(/\d+\.\d+\.\d+/) });
  expect(found["codex"]).toMatchObject({ status: "ok", text: expect.stringMatching(/\d+\.\d+\.\d+/) });
  expect(found["claude login"]).toMatchObject({ status: "ok" });
  expect(found["codex login"]).toMatchObject({ status: "warn", todo: "run `codex login`" });
  expect(found["daemon"]).toMatchObject({ status: "warn", todo: "any sm command starts it" });
  expect(existsSync(machine.socket)).toBe(false);
  await machine.sm("status");
  const after = await checks();
  expect([after["daemon"]?.status, after["socket"]?.status]).toEqual(["ok", "ok"]);
});

test("without an agent it reports what to install, and what still works", async () => {
  const bare = join(machine.home, "bare");
  mkdirSync(bare);
  symlinkSync(process.execPath, join(bare, "node"));
  symlinkSync(join(machine.home, "bin/sm"), join(bare, "sm"));
  const found = await checks({ PATH: bare });
  expect(found["claude"]).toMatchObject({ status: "warn", todo: expect.stringContaining("npm install -g") });
  expect(found["codex"]).toMatchObject({ status: "warn", todo: expect.stringContaining("BLEMEESD_CODEX") });
  expect(found["agents"]).toMatchObject({ status: "warn", todo: expect.stringContaining("sm spawn demo") });
  const told = await machine.start("sm", ["doctor"], { PATH: bare, NO_COLOR: "1" }).ended();
  expect(told.stdout).toMatch(/^! codex +codex not found; install it/m);
});
