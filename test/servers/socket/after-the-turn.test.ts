// Sub-agents that keep working after a session's turn, and the position of a changed introduction in a turn.
import { expect, test } from "vitest";
import { info, isOf, newId, say, until, useDaemon } from "./talk.ts";

const daemon = useDaemon();

test("an interrupt after the turn stops the sub-agents: no turn was cut, so no result follows", async () => {
  const client = await daemon.connect();
  const session_id = newId();
  await client.open(session_id);
  say(client, session_id, "#async");
  await client.next(isOf("agent.result", session_id));
  client.send({ type: "blemeesd.interrupt", session_id });
  expect(await client.next("blemeesd.interrupted")).toMatchObject({ session_id, was_idle: true });
  await client.next((frame) => frame["category"] === "subagent_finished");
  say(client, session_id, "#say next");
  await client.next(isOf("agent.result", session_id));
  const results = client.frames.filter(isOf("agent.result", session_id));
  expect(results.map((frame) => frame["subtype"])).toEqual(["success", "success"]);
});

test("an agent whose owner has left is kept while its sub-agents work", async () => {
  const [owner, other] = [await daemon.connect(), await daemon.connect()];
  const session_id = newId();
  const opened = await owner.open(session_id);
  say(owner, session_id, "#async");
  await owner.next(isOf("agent.result", session_id));
  owner.close();
  await until(
    () => info(other, session_id),
    (row) => row["attached"] === false,
  );
  const again = await other.open(session_id, {}, { resume: true });
  expect(again["subprocess_pid"]).toBe(opened["subprocess_pid"]);
  say(other, session_id, "#async-done");
  await other.next(isOf("agent.result", session_id));
});

test("in a fresh run the introduction comes before task_started; a changed one may come after it", async () => {
  const client = await daemon.connect();
  const session_id = newId();
  await client.open(session_id);
  for (const words of ["#say one", "#clear #say two"]) {
    say(client, session_id, words);
    await client.next(isOf("agent.result", session_id));
  }
  const order = client.frames
    .filter((frame) => frame["session_id"] === session_id)
    .flatMap((frame) => {
      if (frame.type === "agent.system_init") return ["init"];
      return frame["category"] === "task_started" ? ["task_started"] : [];
    });
  expect(order.slice(0, 2)).toEqual(["init", "task_started"]);
  expect([...order.slice(2)].sort()).toEqual(["init", "task_started"]);
});
