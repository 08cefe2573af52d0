// demian through the daemon, as a user runs it with sm: the same failing test is fixed, and each effect is approved
// from a shell.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, startModelServer } from "../../support/model-server.ts";
import { Machine } from "../manager/machine.ts";
import {
  BROKEN,
  configure,
  lastSent,
  MENDED,
  mendingReplies,
  TEST_COMMAND,
  toolsOf,
  transcriptOf,
  writeRepository,
} from "./repository.ts";

let machine: Machine;
let model: ModelServer;
let adapter: string;
beforeAll(async () => {
  model = await startModelServer();
  machine = await Machine.create();
  writeRepository(machine.cwd);
  adapter = await configure(machine.home, model.url);
});
afterAll(async () => {
  await machine.close();
  await model.close();
});

const content = () => readFileSync(join(machine.cwd, "sum.js"), "utf8");

test("a failing test is fixed: every effect is asked, approved by sm approve, and shown in sm tail", async () => {
  model.script(...mendingReplies());
  await machine.spawn("demian", "fixer", "make the test pass");
  const approveNext = async (shown: string): Promise<void> => {
    expect(await machine.sm("wait", "fixer")).toMatchObject({ code: 3 });
    const [row] = await machine.requests("fixer");
    expect((await machine.sm("requests", row?.request_id ?? "")).stdout).toContain(shown);
    expect(await machine.sm("approve", row?.request_id ?? "")).toMatchObject({ code: 0 });
  };

  await approveNext(TEST_COMMAND);
  expect((await lastSent(model, 1)).content).toContain("a - b");
  expect((await lastSent(model, 2)).content).toMatch(/fail 1/);
  expect(content()).toBe(BROKEN);
  await approveNext("+export const sum = (a, b) => a + b;");
  await lastSent(model, 3);
  expect(content()).toBe(MENDED);
  await approveNext(TEST_COMMAND);
  expect((await lastSent(model, 4)).content).toMatch(/fail 0/);
  expect(await machine.sm("wait", "fixer")).toMatchObject({ code: 0 });

  const { stdout: tail } = await machine.sm("tail", "fixer", "-n", "30");
  for (const shown of ["sum.js", TEST_COMMAND, "It passes now."]) expect(tail).toContain(shown);
  expect(await machine.requests()).toEqual([]);
  expect(toolsOf(transcriptOf(machine.cwd))).toEqual([
    ["read_file", true, undefined],
    ["bash", false, adapter],
    ["edit_file", true, undefined],
    ["bash", true, adapter],
  ]);
});

test("a declined action is not done, and the model gets the user's message", async () => {
  const from = model.requests.length;
  model.script(
    ...mendingReplies().slice(1, 2), // the test, once more
    ...mendingReplies().slice(4),
  );
  await machine.sm("send", "fixer", "once more");
  expect(await machine.sm("wait", "fixer")).toMatchObject({ code: 3 });
  const [row] = await machine.requests("fixer");
  expect(await machine.sm("decline", row?.request_id ?? "", "it", "is", "late")).toMatchObject({ code: 0 });
  expect(await machine.sm("wait", "fixer")).toMatchObject({ code: 0 });
  expect((await lastSent(model, from + 1)).content).toContain("it is late");
});
