// A delegation that is cut off at each of its stages: by the user, by a crash of demian, by a crash of the daemon.
// Everything that began ends, in order, nothing waits or runs, and the session continues.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bash, chatReply, type Reply, stuck } from "../../support/model-server.ts";
import type { Frame } from "../../support/raw-client.ts";
import { type Asking, begin, listRequests, settle } from "../asks.ts";
import { markOf, processesWith, untilGone, untilRuns } from "../processes.ts";
import { ofType, resume, type Talk } from "../world.ts";
import { createTeam, delegation, type Team } from "./multi-agent-team.ts";
import { danglingCalls } from "./repository.ts";

let team: Team;
let world: Team["world"];
let other: Team["other"];
beforeAll(async () => {
  team = await createTeam();
  ({ world, other } = team);
});
afterAll(() => team.close());

type Reach = (talk: Talk) => Promise<Asking>;

/** `next` is the main agent's reply to the sub-agent's answer, which may come at any time. */
async function started(talk: Talk, ...next: Reply[]): Promise<Asking> {
  world.model.script(delegation(), ...next);
  const turn = begin(talk, "is the sum right?");
  await settle(turn, await turn.asked(), { decision: "accept" });
  return turn;
}

const isOfMain = ({ type, parent_tool_use_id }: Frame) =>
  type === "agent.delta" && parent_tool_use_id === undefined;
const isOfSubAgent = ({ type, parent_tool_use_id }: Frame) =>
  type === "agent.delta" && parent_tool_use_id !== undefined;

const MOMENTS: [name: string, reach: Reach][] = [
  [
    "its start is asked about",
    async (talk) => {
      world.model.script(delegation());
      const turn = begin(talk, "is the sum right?");
      await turn.asked();
      return turn;
    },
  ],
  [
    "it waits for its model",
    async (talk) => {
      other.script(stuck("let me see"));
      const turn = await started(talk);
      await talk.until(isOfSubAgent);
      return turn;
    },
  ],
  [
    "it asks",
    async (talk) => {
      other.script(bash("sleep 81"));
      const turn = await started(talk);
      await turn.asked(1);
      return turn;
    },
  ],
  [
    "its command runs",
    async (talk) => {
      other.script(bash("sleep 82 & sleep 83"));
      const turn = await started(talk);
      await settle(turn, await turn.asked(1), { decision: "accept" });
      await untilRuns(markOf(talk.session_id), "sleep 83");
      return turn;
    },
  ],
  [
    "it is done and the main agent thinks about it",
    async (talk) => {
      other.script(chatReply("All is well."));
      const turn = await started(talk, stuck("So"));
      await talk.until(isOfMain);
      return turn;
    },
  ],
];

/** Each call and each sub-agent has one end, in order. */
function checkEnds(frames: readonly Frame[]): void {
  const open: string[] = [];
  for (const { type, category, tool_use_id, parent_tool_use_id: parent } of frames) {
    if (type === "agent.tool_use") open.push(`call ${String(tool_use_id)}`);
    if (category === "subagent_started") open.push(`agent of ${String(parent)}`);
    if (category === "subagent_finished") expect(open.pop()).toBe(`agent of ${String(parent)}`);
    if (type === "agent.tool_result") expect(open.pop()).toBe(`call ${String(tool_use_id)}`);
  }
  expect(open).toEqual([]);
}

async function goesOn(talk: Talk): Promise<void> {
  expect(await listRequests(talk.client, { session_id: talk.session_id })).toEqual([]);
  await untilGone(markOf(talk.session_id), "sleep");
  world.model.script(chatReply("Here I am."));
  expect((await talk.say("are you there?")).text).toBe("Here I am.");
  expect(danglingCalls(world.model)).toEqual([]);
}

/** All stored frames after `since`, as a client sees them. */
async function replayed(talk: Talk, since: number): Promise<Frame[]> {
  const client = await world.connect();
  const { session_id } = talk;
  const reply = await client.request({ type: "blemeesd.watch", session_id, last_seen_seq: since });
  expect(reply).toMatchObject({ type: "blemeesd.watching" });
  const last = Number(reply["last_seq"]);
  if (since < last) await client.next((frame) => frame["seq"] === last);
  const frames = client.frames.filter((frame) => typeof frame["seq"] === "number");
  client.close();
  return frames;
}

describe.each(MOMENTS)("while %s", (_name, reach) => {
  test("an interrupt", async () => {
    const talk = await world.session();
    const turn = await reach(talk);
    talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
    const { result, frames } = await turn.end();
    expect(result["subtype"]).toBe("interrupted");
    checkEnds(frames);
    await goesOn(talk);
    const whole = await replayed(talk, 0);
    const seen = talk.client.frames.filter((frame) => typeof frame["seq"] === "number");
    expect(whole).toEqual(seen);
    for (const since of [1, 7, whole.length - 1])
      expect(await replayed(talk, since)).toEqual(whole.slice(since));
  });

  test("the death of demian", async () => {
    const talk = await world.session();
    const turn = await reach(talk);
    const agents = processesWith(`HOME=${world.home}`).filter(({ command }) => / acp$/.test(command));
    for (const { pid } of agents) process.kill(pid, "SIGKILL");
    const { result, frames } = await turn.end();
    expect(result).toMatchObject({ subtype: "error", error: { code: "backend_crashed" } });
    checkEnds(frames);
    await goesOn(await resume(world, talk));
  });

  test("the death of the daemon", async () => {
    const talk = await world.session();
    await reach(talk);
    await world.restart("SIGKILL");
    const again = await resume(world, talk);
    expect(await again.until(({ type }) => type === "agent.result")).toMatchObject({
      subtype: "error",
      error: { code: "backend_crashed" },
    });
    await goesOn(again);
  });

  test("the end of the session", async () => {
    const talk = await world.session();
    await reach(talk);
    const { session_id } = talk;
    expect(await talk.client.request({ type: "blemeesd.close", session_id, delete: false })).toMatchObject({
      type: "blemeesd.closed",
    });
    await untilGone(markOf(session_id), "sleep");
    const ids = (type: string) => ofType(talk.client.frames, type).map(({ tool_use_id }) => tool_use_id);
    expect(ids("agent.tool_result").sort()).toEqual(ids("agent.tool_use").sort());
    await goesOn(await resume(world, talk));
  });
});
