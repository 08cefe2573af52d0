// Several agents of demian under the daemon: the main agent uses one provider, its sub-agent another one, and
// everything the sub-agent does and asks is in the session's stream and in its ledger.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import { bash, chatReply, stuck } from "../../support/model-server.ts";
import type { Frame } from "../../support/raw-client.ts";
import { type Asking, begin, listRequests, settle } from "../asks.ts";
import { markOf, processesWith, untilGone, untilRuns } from "../processes.ts";
import { ofType, resume, type Talk } from "../world.ts";
import { createTeam, delegation, TASK, type Team } from "./multi-agent-team.ts";
import { danglingCalls, userTexts } from "./repository.ts";

const REQUEST = "is the sum right?";

let team: Team;
let world: Team["world"];
let other: Team["other"];
beforeAll(async () => {
  team = await createTeam();
  ({ world, other } = team);
});
afterAll(() => team.close());

/** A turn in which the main agent delegates, up to the sub-agent's own question. */
async function delegated(talk: Talk, text = REQUEST): Promise<{ turn: Asking; row: RequestRow }> {
  const turn = begin(talk, text);
  await settle(turn, await turn.asked(), { decision: "accept" });
  return { turn, row: await turn.asked(1) };
}

/** The main agent's tools in the last request to its model. */
function toolNames(): string[] {
  const { tools } = (world.model.requests.at(-1)?.body ?? { tools: [] }) as {
    tools: { function: { name: string } }[];
  };
  return tools.map(({ function: { name } }) => name);
}

/** The main events of a turn, with those under the sub-agent's call. */
function story(frames: readonly Frame[]): string[] {
  return frames.flatMap((frame) => {
    const { type, category, name, parent_tool_use_id: parent } = frame;
    const word = type === "agent.notice" ? String(category) : type.replace("agent.", "");
    if (
      /^(delta|system_init|task_started|context_usage|session_info|demian_|available|tool_input|tool_progress|tool_output)/.test(
        word,
      )
    )
      return [];
    if (!type.startsWith("agent.")) return [];
    const whole = name === undefined ? word : `${word} ${String(name)}`;
    return [parent === undefined ? whole : `  ${whole}`];
  });
}

test("a delegation is visible from its start to its end, asks by its path in the ledger, and counts in the result", async () => {
  const talk = await world.session();
  world.model.script(delegation(), chatReply("The reviewer says no."));
  other.script(bash("node sum.test.js"), chatReply("It fails: one and two are not three."));
  const turn = begin(talk, REQUEST);

  const start = await turn.asked();
  expect(start).toMatchObject({ request_type: "tool", payload: { tool_name: "delegate_agent" } });
  expect(start.path).toBeUndefined();
  for (const words of ["reviewer", "elsewhere", "other-model", "another provider", TASK, REQUEST]) {
    expect(start.payload.reason).toContain(words);
  }
  expect(other.requests).toEqual([]);
  await settle(turn, start, { decision: "accept" });

  const row = await turn.asked(1);
  expect(row).toMatchObject({
    request_type: "command",
    path: ["reviewer"],
    payload: { command: "node sum.test.js" },
  });
  expect(await listRequests(talk.client, { session_id: talk.session_id })).toMatchObject([
    { request_id: row.request_id, path: ["reviewer"] },
  ]);
  await settle(turn, row, { decision: "accept" });

  const { frames, result, text } = await turn.end();
  expect(text).toBe("The reviewer says no.");
  expect(story(frames)).toEqual([
    "tool_use delegate_agent",
    "request_pending",
    "request_resolved",
    "  subagent_started",
    "  tool_use bash",
    "request_pending",
    "request_resolved",
    "  tool_result",
    "  message",
    "  subagent_finished",
    "tool_result",
    "message",
    "result",
  ]);
  const [use] = ofType(frames, "agent.tool_use");
  const parents = frames.flatMap((frame) => frame["parent_tool_use_id"] ?? []);
  expect(new Set(parents)).toEqual(new Set([use?.["tool_use_id"]]));
  const who = { path: ["reviewer"], agent: "reviewer", provider: "elsewhere", model: "other-model" };
  const notices = frames.filter(({ category }) => String(category).startsWith("subagent_"));
  expect(notices).toMatchObject([
    { data: who },
    { data: { ...who, subtype: "success", num_turns: 2, usage: { input_tokens: 20, output_tokens: 10 } } },
  ]);
  // Two requests to each model: each time 10 in and 5 out.
  expect(result).toMatchObject({ subtype: "success", usage: { input_tokens: 40, output_tokens: 20 } });
  const info = await talk.client.request({ type: "blemeesd.session_info", session_id: talk.session_id });
  expect(info).toMatchObject({ cumulative_usage: { input_tokens: 40, output_tokens: 20 } });
});

test("the other provider receives the handoff, and nothing of the conversation before", async () => {
  const talk = await world.session();
  const [here, there] = [world.model.requests.length, other.requests.length];
  world.model.script(chatReply("Noted: kumquat."), delegation(), chatReply("Yes."));
  other.script(chatReply("Nothing to run."));
  await talk.say("remember the word pomegranate");
  const turn = begin(talk, REQUEST);
  await settle(turn, await turn.asked(), { decision: "accept" });
  expect((await turn.end()).text).toBe("Yes.");
  const sent = JSON.stringify(other.requests.slice(there).map(({ body }) => body));
  expect(sent).toContain(TASK);
  expect(sent).not.toMatch(/pomegranate|kumquat/);
  expect(JSON.stringify(world.model.requests.slice(here).map(({ body }) => body))).toContain("pomegranate");
});

test("a sub-agent that is not allowed to start does not start, and the main agent continues with the reason", async () => {
  const talk = await world.session();
  const before = other.requests.length;
  world.model.script(delegation(), chatReply("Then I look myself."));
  const turn = begin(talk, REQUEST);
  await settle(turn, await turn.asked(), { decision: "decline", message: "not to them" });
  const { frames, text } = await turn.end();
  expect(text).toBe("Then I look myself.");
  expect(other.requests).toHaveLength(before);
  expect(frames.filter(({ category }) => String(category).startsWith("subagent_"))).toEqual([]);
  expect(JSON.stringify(world.model.requests.at(-1)?.body)).toContain("not to them");
});

test("an interrupt while the sub-agent waits for its model ends both, and the next turn works", async () => {
  const talk = await world.session();
  world.model.script(delegation(), chatReply("Here I am."));
  other.script(stuck("let me see"));
  const turn = begin(talk, REQUEST);
  await settle(turn, await turn.asked(), { decision: "accept" });
  await talk.until(
    ({ type, parent_tool_use_id }) => type === "agent.delta" && parent_tool_use_id !== undefined,
  );
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  const { result, frames } = await turn.end();
  expect(result["subtype"]).toBe("interrupted");
  expect(story(frames).slice(-3)).toEqual(["  subagent_finished", "tool_result", "result"]);
  expect(frames.filter(({ category }) => category === "subagent_finished")).toMatchObject([
    { data: { subtype: "interrupted" } },
  ]);
  expect((await talk.say("are you there?")).text).toBe("Here I am.");
  expect(danglingCalls(world.model)).toEqual([]);
});

test("an interrupt while the sub-agent's command runs leaves no process of it", async () => {
  const talk = await world.session();
  world.model.script(delegation(), chatReply("Here I am."));
  other.script(bash("sleep 71 & sleep 72"));
  const { turn, row } = await delegated(talk);
  await settle(turn, row, { decision: "accept" });
  const mark = markOf(talk.session_id);
  await Promise.all([untilRuns(mark, "sleep 71"), untilRuns(mark, "sleep 72")]);
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  const { result, frames } = await turn.end();
  expect(result["subtype"]).toBe("interrupted");
  expect(ofType(frames, "agent.tool_result")).toMatchObject([{ is_error: true }, { is_error: true }]);
  await untilGone(mark, "sleep");
  expect((await talk.say("are you there?")).text).toBe("Here I am.");
});

test("the daemon and demian crash while the sub-agent asks: the request is orphaned, nothing runs, and the session resumes", async () => {
  const talk = await world.session();
  world.model.script(delegation(), chatReply("It was about the sum."));
  other.script(bash("sleep 73"));
  const { row } = await delegated(talk);
  await world.restart("SIGKILL");
  await untilGone(markOf(talk.session_id));
  const again = await resume(world, talk);
  expect(again.opened).toMatchObject({ type: "blemeesd.opened" });
  expect(await again.until(({ type }) => type === "agent.result")).toMatchObject({
    subtype: "error",
    error: { code: "backend_crashed" },
  });
  const ofSession = { session_id: talk.session_id, include_orphaned: true, include_settled: true };
  const rows = await listRequests(again.client, ofSession);
  // The next daemon reads the dead agent's output to its end, so the agent's end withdraws the request. If the run could
  // not be read any more, the request is orphaned.
  expect(rows.find(({ request_id }) => request_id === row.request_id)).toMatchObject({
    status: expect.stringMatching(/^(orphaned|withdrawn)$/),
    path: ["reviewer"],
  });
  expect(rows.filter(({ status }) => status === "pending")).toEqual([]);
  expect((await again.say("what was it about?")).text).toBe("It was about the sum.");
  expect(userTexts(world.model)).toEqual([REQUEST, "what was it about?"]);
  expect(danglingCalls(world.model)).toEqual([]);
  // It is still a session of several agents.
  expect(toolNames()).toContain("delegate_agent");
  expect(processesWith(markOf(talk.session_id)).map(({ command }) => command)).toEqual([]);
});

test("without the option the configuration decides, and there is one agent", async () => {
  const talk = await world.session({ agent_mode: null });
  world.model.script(chatReply("Alone."));
  await talk.say("hello");
  expect(toolNames()).not.toContain("delegate_agent");
});
