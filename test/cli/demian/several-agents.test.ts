// Several agents at a terminal, with the real runtime and two models on loopback. At a real terminal: terminal.test.ts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { chatReply, type ModelServer, startModelServer, stuck } from "../../support/model-server.ts";
import { ASKED, acceptSettings, DONE, messagesOf, READY } from "./every-terminal.ts";
import { run, Screenplay } from "./in-process.ts";
import { delegate, teamOf, write } from "./several-agents.ts";
import { World } from "./world.ts";

const world = new World();
let model: ModelServer;
let other: ModelServer;
let terminal: Screenplay | undefined;

beforeEach(async () => {
  [model, other] = await Promise.all([startModelServer(), startModelServer()]);
  world.begin(model.url, teamOf(other));
});
afterEach(async () => {
  terminal?.kill();
  await Promise.all([model.close(), other.close()]);
});
afterAll(() => world.remove());

async function begin(args: string[] = []): Promise<{ screen: Screenplay; settings: string }> {
  terminal = new Screenplay(world, args);
  const settings = await acceptSettings(terminal);
  return { screen: terminal, settings };
}

describe("talking with several agents", () => {
  test("the start lists the callable agents, and /agents describes them", async () => {
    const { screen } = await begin();
    expect(screen.text).toMatch(/· multi-agent: build may delegate to [^\n]*\bwriter \(elsewhere\)/);
    expect(screen.text).not.toContain("reader");
    screen.enter("/agents");
    expect(await screen.until(READY)).toMatch(/writer +Writes small files\. \(elsewhere, builder, cheap\)/);
    screen.enter("/agent plan");
    expect(await screen.until(READY)).toContain("multi-agent: plan ");
  });

  test("in single-agent mode nothing is shown, and /agents explains how to change that", async () => {
    const { screen } = await begin(["--single-agent"]);
    expect(screen.text).not.toContain("multi-agent");
    screen.enter("/agents");
    expect(await screen.until(READY)).toContain("start demian with --multi-agent to let it delegate");
  });

  test("a sub-agent cannot be selected for a chat, which is reported before anything is asked", async () => {
    terminal = new Screenplay(world, ["--agent", "writer"]);
    expect(await terminal.ended).toBe(1);
    expect(terminal.text).toMatch(
      /the agent "writer" only works for other agents; choose one of build, plan/,
    );
    expect(terminal.text).not.toMatch(/provider \[/);
  });

  test("/use-plan explains where plans come from if there is none, and calls no model", async () => {
    const { screen } = await begin();
    screen.enter("/use-plan do it");
    expect(await screen.until(READY)).toContain(
      "there is no plan yet; the provider claudecode-plan makes one",
    );
    expect(model.requests).toEqual([]);
  });

  test("the handoff is shown completely in the prompt, then each action of the sub-agent with its path", async () => {
    model.script(delegate("write a.txt"), chatReply("It is written."));
    other.script(write("a.txt", "hello\n"), chatReply("SUB-AGENT WORDS"));
    const { screen } = await begin();
    screen.enter("please write it");
    const first = await screen.until(ASKED);
    for (const shown of ["writer", "elsewhere", "please write it", "write a.txt"])
      expect(first).toContain(shown);
    expect(other.requests).toEqual([]);
    screen.enter("y");
    const second = await screen.until(ASKED);
    expect(second).toMatch(/● delegate_agent: writer/);
    expect(second).toMatch(/\n {2}▶ writer started \(elsewhere, tiny; about \d+ tokens of context\)/);
    expect(second).toMatch(/Allow [^\n]*writer -> write_file: a\.txt/);
    expect(world.has("a.txt")).toBe(false);
    screen.enter("y");
    const rest = await screen.until(DONE);
    expect(rest).toMatch(/\n {2}writer ● write_file: a\.txt\n {2}writer {3}✓ a\.txt \(\+1 −0, new\)/);
    expect(rest).toMatch(/\n {2}✓ writer done: 2 turns, 20 tokens in, 10 out, [\d.]+ s\n/);
    expect(rest).toContain("It is written.");
    expect(screen.text).not.toContain("SUB-AGENT WORDS");
    expect(readFileSync(join(world.workspace, "a.txt"), "utf8")).toBe("hello\n");
    expect(JSON.stringify(messagesOf(model, 1).at(-1))).toContain("SUB-AGENT WORDS");
  });

  test("d shows all of a long handoff before the decision", async () => {
    const task = Array.from({ length: 300 }, (_, at) => `step ${at} of many`).join("\n");
    model.script(delegate(task), chatReply("then not"));
    const { screen } = await begin();
    screen.enter("go");
    const short = await screen.until(ASKED);
    expect(short).toMatch(/lines of this handoff are NOT SHOWN; press d to show all/);
    expect(short).not.toContain("step 299 of many");
    screen.enter("d");
    expect(await screen.until(ASKED)).toContain("step 299 of many");
    screen.enter("n");
    expect(await screen.until(DONE)).toContain("denied (user): agent writer");
    expect(other.requests).toEqual([]);
  });

  test("/stop while a sub-agent works ends both, reports it, and the chat continues", async () => {
    model.script(delegate("write a.txt"), chatReply("fine"));
    other.script(stuck("half an ans"));
    const { screen } = await begin();
    screen.enter("please write it");
    await screen.until(ASKED);
    screen.enter("y");
    await screen.until("  writer · writing…");
    screen.enter("/stop");
    expect(await screen.until(DONE)).toMatch(/\n {2}■ writer cancelled: /);
    expect(screen.text).not.toContain("half an ans");
    screen.enter("and now?");
    expect(await screen.until(DONE)).toContain("fine");
  });
});

describe("without a terminal", () => {
  test("no sub-agent starts without permission, and the message names what would allow it", async () => {
    model.script(delegate("write a.txt"), chatReply("then not"));
    const { stdout, stderr } = await run(world, ["please write it"]);
    expect(stdout).toBe("then not\n");
    expect(stderr).toContain("invocationDecision");
    expect(other.requests).toEqual([]);
  });

  test("--json has the events of all agents unchanged, and the result once", async () => {
    model.script(delegate("write a.txt"), chatReply("It is written."));
    other.script(write("a.txt", "hello\n"), chatReply("SUB-AGENT WORDS"));
    const { code, stdout } = await run(world, ["--yes", "--json", "please write it"]);
    expect(code).toBe(0);
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const ofWriter = events.filter(({ agentPath }) => JSON.stringify(agentPath) === '["writer"]');
    expect(ofWriter.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["agent.invocation.started", "tool.completed", "agent.invocation.completed"]),
    );
    expect(ofWriter.filter(({ type }) => type === "model.text.delta").map(({ text }) => text)).toEqual([
      "SUB-AGENT",
      " WORDS",
    ]);
    expect(events.at(-1)).toMatchObject({ type: "result", text: "It is written." });
  });

  test("only the answer is on stdout, and the sub-agent's actions are on stderr", async () => {
    model.script(delegate("write a.txt"), chatReply("It is written."));
    other.script(write("a.txt", "hello\n"), chatReply("SUB-AGENT WORDS"));
    const { stdout, stderr } = await run(world, ["--yes", "please write it"]);
    expect(stdout).toBe("It is written.\n");
    expect(stderr).toContain("  writer ● write_file: a.txt");
    expect(stderr).not.toContain("SUB-AGENT");
  });
});

describe("lists", () => {
  test("list-agents shows the callable agents and their source, --all the hidden ones, --main the others", async () => {
    const { stdout } = await run(world, ["list-agents"]);
    expect(stdout).toMatch(/writer +subagent +yes +elsewhere +builder\/cheap +user: .*config\.json/);
    expect(stdout).not.toContain("reader");
    expect((await run(world, ["list-agents", "--all"])).stdout).toMatch(/reader +subagent +hidden/);
    const names = await run(world, ["list-agents", "--main", "--names"]);
    expect(names.stdout.split("\n")).not.toContain("writer");
    const json = JSON.parse((await run(world, ["list-agents", "--all", "--json"])).stdout) as object[];
    expect(json).toContainEqual(
      expect.objectContaining({
        name: "writer",
        mode: "subagent",
        isCallable: true,
        isHidden: false,
        provider: "elsewhere",
        category: "builder",
        cost: "cheap",
        source: { scope: "user", path: world.configFile, trusted: true },
      }),
    );
    expect(json).toContainEqual(
      expect.objectContaining({ name: "reader", isCallable: false, isHidden: true }),
    );
  });

  test("list-tools has delegate_agent only with several agents, and the agents it can name", async () => {
    expect((await run(world, ["list-tools", "--single-agent"])).stdout).not.toContain("delegate_agent");
    expect((await run(world, ["list-tools"])).stdout).toContain("delegate_agent");
    const { stdout } = await run(world, ["list-tools", "--json"]);
    const rows = JSON.parse(stdout) as {
      name: string;
      inputSchema: { properties: { agent?: { enum: string[] } } };
    }[];
    const names = rows.find(({ name }) => name === "delegate_agent")?.inputSchema.properties.agent?.enum;
    expect(names).toContain("writer");
    for (const name of ["reader", "build"]) expect(names).not.toContain(name);
  });
});
