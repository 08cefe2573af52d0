// Permissions in a session of several agents under the daemon: an agent's rules that only the user can override, the
// scope of an answer for the session, and nested agents with their paths and costs.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bash, bytes, chatReply, chunk, type Reply, sse } from "../../support/model-server.ts";
import type { Frame } from "../../support/raw-client.ts";
import { begin, choiceOf, settle } from "../asks.ts";
import { ofType } from "../world.ts";
import { createTeam, type Team } from "./multi-agent-team.ts";

let team: Team;
let world: Team["world"];
let other: Team["other"];
beforeAll(async () => {
  team = await createTeam();
  ({ world, other } = team);
  const path = join(world.home, ".demian/config.json");
  const config = JSON.parse(readFileSync(path, "utf8"));
  const { reviewer } = config.agents;
  config.agents = {
    reviewer,
    strict: { ...reviewer, permissions: [{ tool: "bash", decision: "deny", reason: "only reads" }] },
    head: { ...reviewer, delegation: { canDelegate: true } },
  };
  config.delegation = { maxDepth: 2 };
  writeFileSync(path, JSON.stringify(config));
});
afterAll(() => team.close());

const give = (agent: string): Reply =>
  chatReply("", [{ name: "delegate_agent", input: { agent, task: "Look." } }]);
const notices = (frames: readonly Frame[], category: string) =>
  frames.filter((frame) => frame["category"] === category);

test("without approvals everything is allowed except what an agent's own rules deny, and its model gets the reason", async () => {
  const talk = await world.session({ approvals: false });
  world.model.script(bash("echo main"), give("strict"), chatReply("Done."));
  other.script(bash("echo strict"), chatReply("I may not."));
  const { frames, text } = await talk.say("go");
  expect(text).toBe("Done.");
  expect(notices(frames, "request_pending")).toEqual([]);
  const [main, refused] = ofType(frames, "agent.tool_result");
  expect(main).toMatchObject({ is_error: false, output: expect.stringContaining("main") });
  expect(refused).toMatchObject({ is_error: true, parent_tool_use_id: expect.any(String) });
  expect(notices(frames, "permission_denied")).toMatchObject([
    { level: "warn", parent_tool_use_id: expect.any(String) },
  ]);
  expect(JSON.stringify(other.requests.at(-1)?.body)).toContain("approvals are off");
});

test("a command allowed for the session is allowed to every agent, but not beyond the agent's own rules", async () => {
  const talk = await world.session();
  world.model.script(bash("echo same"), give("reviewer"), give("strict"), chatReply("Done."));
  other.script(bash("echo same"), chatReply("One."), bash("echo same"), chatReply("Two."));
  const turn = begin(talk, "go");
  const first = await turn.asked();
  expect(choiceOf(first, "acceptForSession").remembers).toEqual(["this exact command"]);
  await settle(turn, first, { decision: "acceptForSession" });
  await settle(turn, await turn.asked(1), { decision: "accept" });
  await settle(turn, await turn.asked(2), { decision: "accept" });
  const beyond = await turn.asked(3);
  expect(beyond).toMatchObject({ request_type: "command", path: ["strict"] });
  expect(beyond.payload.reason).toContain("only reads");
  await settle(turn, beyond, { decision: "decline" });
  const { frames } = await turn.end();
  expect(notices(frames, "permission_granted")).toMatchObject([{ parent_tool_use_id: expect.any(String) }]);
});

test("a nested agent asks with its whole path, and the total cost is in the result", async () => {
  const talk = await world.session();
  const [here, there] = [world.model.requests.length, other.requests.length];
  world.model.script(give("head"), chatReply("Done."));
  other.script(give("reviewer"), bash("echo deep"), chatReply("Deep."), chatReply("Head."));
  const turn = begin(talk, "go");
  const paths: unknown[] = [];
  for (let count = 0; count < 3; count += 1) {
    const row = await turn.asked(count);
    paths.push(row.path);
    await settle(turn, row, { decision: "accept" });
  }
  expect(paths).toEqual([undefined, ["head"], ["head", "reviewer"]]);
  const { frames, result, text } = await turn.end();
  expect(text).toBe("Done.");
  const [top, middle, deep] = ofType(frames, "agent.tool_use");
  expect([top, middle, deep].map((use) => use?.["parent_tool_use_id"])).toEqual([
    undefined,
    top?.["tool_use_id"],
    middle?.["tool_use_id"],
  ]);
  const asked = world.model.requests.length - here + other.requests.length - there;
  expect(asked).toBe(6);
  expect(result).toMatchObject({ usage: { input_tokens: 10 * asked, output_tokens: 5 * asked } });
  const finished = notices(frames, "subagent_finished").map(({ data }) => data);
  expect(finished).toMatchObject([
    { path: ["head", "reviewer"], usage: { input_tokens: 20 } },
    { path: ["head"], usage: { input_tokens: 40 } },
  ]);
});

test("a sub-agent with much output is reported completely and in order, in few pieces", async () => {
  const talk = await world.session();
  const words = Array.from({ length: 20_000 }, (_, index) => `w${index} `);
  const said = words.map((content) => sse(chunk({ content }))).join("");
  world.model.script(give("reviewer"), chatReply("Done."));
  other.script(bytes(said, sse(chunk({}, "stop")), sse("[DONE]")));
  const turn = begin(talk, "go");
  await settle(turn, await turn.asked(), { decision: "accept" });
  const { frames } = await turn.end();
  const deltas = ofType(frames, "agent.delta").filter((frame) => frame["parent_tool_use_id"] !== undefined);
  expect(deltas.map((frame) => frame["text"]).join("")).toBe(words.join(""));
  expect(deltas.length).toBeLessThan(words.length / 20);
});
