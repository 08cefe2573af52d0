// A queued message on its way to an agent that starts a turn on its own at the same moment.
import { expect, test } from "vitest";
import { gate, settle, user } from "./fakes.ts";
import { runOf, spawn, textsOf, world } from "./system.ts";

test("a message whose delivery is being stored is not lost when the agent starts and ends a turn on its own", async () => {
  const on = await world();
  await spawn(on, "a");
  await settle();
  const run = runOf(on, "a");
  run.result();
  await settle(20);
  const { input } = await on.manager.input({ session_id: "a", message: user("two") });
  const disk = gate();
  on.store.held = disk.passed;
  await settle(5);
  expect(textsOf(run)).toEqual(["do a"]);
  run.sink.turnStarted();
  run.result();
  await settle(5);
  on.store.held = undefined;
  disk.open();
  await settle(40);
  expect(textsOf(run)).toEqual(["do a", "two"]);
  const stateOf = async () =>
    (await on.manager.queue("a")).recent.find(({ message_id }) => message_id === input.message_id)?.state;
  expect(await stateOf()).toBe("delivered");
  run.result();
  await settle(20);
  expect(await stateOf()).toBe("done");
});
