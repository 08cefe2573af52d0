// An agent that is slow to start does not block other clients.
import { expect, test } from "vitest";
import { ask, info, isOf, newId, say, until, useDaemon } from "./talk.ts";

const daemon = useDaemon({ env: { FAKE_CLAUDE_FAULT: "slow-start" } });

test("a ping is answered during an open", async () => {
  const client = await daemon.connect();
  client.send({ type: "blemeesd.open", id: "o", session_id: newId(), backend: "claude", options: {} });
  client.send({ type: "blemeesd.ping", id: "p" });
  client.send({ type: "blemeesd.status", id: "s" });
  await client.next("blemeesd.opened");
  expect(client.frames.slice(1).map((frame) => frame["id"])).toEqual(["p", "s", "o"]);
});

test("a message, an interrupt and a close that are sent after it wait for it, in order", async () => {
  const client = await daemon.connect();
  const session_id = newId();
  client.send({ type: "blemeesd.open", session_id, backend: "claude", options: {} });
  say(client, session_id, "#hang");
  client.send({ type: "blemeesd.interrupt", session_id });
  await client.next(isOf("agent.result", session_id));
  client.send({ type: "blemeesd.close", session_id });
  await client.next("blemeesd.closed");
  const told = client.frames.filter((frame) => /opened|interrupted|result|closed/.test(frame.type));
  expect(told).toMatchObject([
    { type: "blemeesd.opened" },
    { type: "blemeesd.interrupted", was_idle: false },
    { type: "agent.result", subtype: "interrupted" },
    { type: "blemeesd.closed" },
  ]);
});

test("a client that disconnects during its open leaves no owner and no agent", async () => {
  const [gone, other] = [await daemon.connect(), await daemon.connect()];
  const session_id = newId();
  gone.send({ type: "blemeesd.open", session_id, backend: "claude", options: {} });
  await until(
    () => info(other, session_id),
    (row) => row.type === "blemeesd.session_info_reply",
  );
  gone.close();
  const started = () =>
    daemon.current.log().includes(`"session_id":"${session_id}","backend":"claude","pid"`);
  await until(async () => started(), Boolean);
  await until(
    () => info(other, session_id),
    (row) => row["attached"] === false && row["subprocess_running"] === false,
  );
});

test("two clients that resume one session at the same moment get one agent", async () => {
  const [first, second] = [await daemon.connect(), await daemon.connect()];
  const session_id = newId();
  await first.open(session_id);
  await first.turn(session_id, "#say begun");
  first.close();
  await until(
    () => info(second, session_id),
    (row) => row["subprocess_running"] === false,
  );
  const [third, fourth] = [await daemon.connect(), await daemon.connect()];
  const opened = await Promise.all(
    [third, fourth].map((client) => client.open(session_id, {}, { resume: true })),
  );
  expect(opened[0]?.["subprocess_pid"]).toBe(opened[1]?.["subprocess_pid"]);
  await ask(fourth, "ping");
  const spawned = daemon.current
    .log()
    .split("\n")
    .filter((line) => line.includes(session_id) && line.includes("backend.spawn"));
  const pids = new Set(spawned.map((line) => JSON.parse(line).pid));
  expect(pids.size).toBe(2); // the first agent and the one both share
});
