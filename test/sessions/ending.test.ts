// Requests to a session while it, or its agent, is being stopped.
import { expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { drain } from "../../src/sessions/shutdown.ts";
import { gate, settle, stage, user } from "./fakes.ts";
import { runOf, spawn, textsOf, world } from "./system.ts";

const ann = { id: "ann" };
const never = new AbortController().signal;

test("a client that returns while the agent is being released does not need a free slot", async () => {
  const { hub, backend, open } = stage({ limits: { maxSessions: 1, maxSessionsPerClient: 32 } });
  await open(ann);
  const ended = gate();
  backend.last.stop = async () => {
    await ended.passed;
    backend.last.end(true);
  };
  hub.detach(ann);
  await settle();
  const back = open({ id: "ann again" }, { resume: true });
  await settle();
  ended.open();
  await expect(back).resolves.toBeDefined();
  expect(backend.alive).toHaveLength(1);
});

test("a shutdown waits for the disk even if an interrupt has just killed the agent", async () => {
  const { hub, backend, store, open } = stage();
  await open(ann);
  await hub.send(ann, "s", user("hello"));
  const run = backend.last;
  const over = gate();
  run.interrupt = async () => {
    run.end(true);
    await over.passed;
  };
  const disk = gate();
  store.held = disk.passed;
  const interrupted = hub.interrupt(ann, "s", () => undefined);
  await settle();
  let isDrained = false;
  const drained = drain(hub, 0, never, silentLog).then(() => {
    isDrained = true;
  });
  await settle();
  expect(isDrained).toBe(false);
  disk.open();
  await drained;
  over.open();
  await expect(interrupted).resolves.toBeUndefined();
});

test("a shutdown ends an agent that does not answer an interrupt, whatever else waits for it", async () => {
  const { hub, backend, open } = stage();
  await open(ann);
  await hub.send(ann, "s", user("hello"));
  const over = gate();
  backend.last.interrupt = () => over.passed;
  const interrupted = hub.interrupt(ann, "s", () => undefined);
  const sent = expect(hub.send(ann, "s", user("and then"))).rejects.toThrow();
  await settle();
  await drain(hub, 0, never, silentLog);
  expect(backend.alive).toEqual([]);
  await expect(interrupted).resolves.toBeUndefined();
  await sent;
  over.open();
});

test("a message that arrives at any moment while a session is reaped is accepted", async () => {
  for (let moments = 0; moments < 12; moments += 1) {
    const on = await world();
    await spawn(on, "a");
    await settle();
    runOf(on, "a").result();
    await settle(20);
    const sent = on.manager.input({ session_id: "a", message: user("more") });
    for (let n = 0; n < moments; n += 1) await Promise.resolve();
    const reaped = on.hub.reap(0, Date.now() + 1);
    await Promise.all([reaped, sent]);
    await settle(20);
    expect(textsOf(runOf(on, "a")).at(-1)).toBe("more");
  }
});
