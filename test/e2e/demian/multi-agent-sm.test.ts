// Several agents of demian, as a user runs them with sm: the sub-agent's start and its command are approved from a
// shell, by their path, and its actions appear in the tail.
import { afterAll, beforeAll, expect, test } from "vitest";
import { bash, chatReply, type ModelServer, startModelServer } from "../../support/model-server.ts";
import { Machine } from "../manager/machine.ts";
import { addReviewer, delegation, TASK } from "./multi-agent-team.ts";
import { configure, TEST_COMMAND, writeRepository } from "./repository.ts";

let machine: Machine;
let model: ModelServer;
let other: ModelServer;
beforeAll(async () => {
  model = await startModelServer();
  other = await startModelServer();
  machine = await Machine.create();
  writeRepository(machine.cwd);
  await configure(machine.home, model.url);
  addReviewer(machine.home, other.url);
});
afterAll(async () => {
  await machine.close();
  await model.close();
  await other.close();
});

test("a session of several agents is started by an option, and each step of a sub-agent is approved and shown", async () => {
  model.script(chatReply("Hello to you."), delegation(), chatReply("The reviewer says no."));
  other.script(bash(TEST_COMMAND), chatReply("It fails."));
  await machine.spawn("demian", "lead", "--option", "agent_mode=multi-agent", "hello");
  expect(await machine.sm("wait", "lead")).toMatchObject({ code: 0 });
  const tail = machine.start("sm", ["tail", "-f", "lead"]);
  await tail.until("Hello to you.");
  await machine.sm("send", "lead", "is the sum right?");
  const approveNext = async (...shown: string[]): Promise<void> => {
    expect(await machine.sm("wait", "lead")).toMatchObject({ code: 3 });
    const [row] = await machine.requests("lead");
    const { stdout } = await machine.sm("requests", row?.request_id ?? "");
    for (const words of shown) expect(stdout).toContain(words);
    expect(await machine.sm("approve", row?.request_id ?? "")).toMatchObject({ code: 0 });
  };
  await approveNext("delegate_agent", "elsewhere", "another provider", TASK);
  await approveNext("sub-agent │ reviewer", TEST_COMMAND);
  expect(await machine.sm("wait", "lead")).toMatchObject({ code: 0 });
  for (const shown of [
    "subagent_started: reviewer: elsewhere/other-model",
    `  ⚙ bash: ${TEST_COMMAND}`,
    "subagent_finished: reviewer: success",
    "The reviewer says no.",
  ]) {
    await tail.until(shown);
  }
  await tail.stop();
});
