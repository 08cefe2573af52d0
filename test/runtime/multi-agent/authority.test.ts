// Authority stays at the root: where requests go, the scope of an "always", and what no agent can widen.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anthropicReply, chatReply } from "../../support/model-server.ts";
import { delegate, subAgent, Team, wire } from "./team.ts";

let team: Team;

beforeEach(async () => {
  team = await Team.start();
});

afterEach(() => team.close());

const write = (path: string) => ({ name: "write_file", input: { path, content: "x\n" } });

describe("23: what a child wants to do", () => {
  test("is asked at the root, with the path to the requesting agent", async () => {
    team.main.script(delegate("writer", "Write it."), chatReply("", [write("a.txt")]), chatReply("Written."));
    team.main.script(chatReply("Done."));
    const { session, prompts, events } = await team.open();
    await session.run({ text: "go" });
    expect(prompts.map(({ agent, agentPath, tool }) => ({ agent, agentPath, tool }))).toEqual([
      { agent: "build", agentPath: undefined, tool: "delegate_agent" },
      { agent: "writer", agentPath: ["writer"], tool: "write_file" },
    ]);
    const asked = events.filter((event) => event.type === "permission.requested");
    expect(asked.map(({ targetType, targetName }) => `${targetType} ${targetName}`)).toEqual([
      "agent writer",
      "tool write_file",
    ]);
    expect(existsSync(join(team.place.cwd, "a.txt"))).toBe(true);
  });

  test("a refusal with its reason reaches the child, and the main agent continues", async () => {
    team.main.script(
      delegate("writer", "Write it."),
      chatReply("", [write("a.txt")]),
      chatReply("I was not let."),
    );
    team.main.script(chatReply("Then not."));
    const { session } = await team.open({
      ask: ({ tool }) =>
        Promise.resolve(
          tool === "write_file" ? { decision: "deny", reason: "not today" } : { decision: "allow" },
        ),
    });
    expect(await session.run({ text: "go" })).toMatchObject({ outcome: "completed", text: "Then not." });
    expect(wire(team.main, 2)).toContain("not today");
    expect(existsSync(join(team.place.cwd, "a.txt"))).toBe(false);
  });

  test("a no that stops the turn stops the whole turn", async () => {
    team.main.script(delegate("writer", "Write it."), chatReply("", [write("a.txt"), write("b.txt")]));
    const { session } = await team.open({
      ask: ({ tool }) =>
        Promise.resolve(tool === "write_file" ? { decision: "deny", stop: true } : { decision: "allow" }),
    });
    expect(await session.run({ text: "go" })).toMatchObject({ outcome: "denied" });
    expect(team.main.requests).toHaveLength(2);
  });
});

describe("24: an always that was given to a child", () => {
  test("also serves the main agent, where the tool is visible there", async () => {
    team.main.script(
      delegate("writer", "Write it."),
      chatReply("", [write("dir/a.txt")]),
      chatReply("Written."),
    );
    team.main.script(chatReply("", [write("dir/b.txt")]), chatReply("Done."));
    const { session, prompts, events } = await team.open({
      ask: ({ tool }) => Promise.resolve({ decision: "allow", always: tool === "write_file" }),
    });
    await session.run({ text: "go" });
    expect(prompts.map(({ tool }) => tool)).toEqual(["delegate_agent", "write_file"]);
    const granted = events.filter((event) => event.type === "permission.granted");
    expect(granted.at(-1)).toMatchObject({ by: "grant", targetName: "write_file" });
    expect(existsSync(join(team.place.cwd, "dir/b.txt"))).toBe(true);
  });

  test("makes nothing visible: an agent that does not see the tool cannot call it", async () => {
    team.main.script(
      delegate("writer", "Write."),
      chatReply("", [write("dir/a.txt")]),
      chatReply("Written."),
    );
    team.main.script(delegate("reviewer", "Write too."), chatReply("Done."));
    team.other.script(anthropicReply("", [write("dir/b.txt")]), anthropicReply("I cannot."));
    const { session } = await team.open({ ask: () => Promise.resolve({ decision: "allow", always: true }) });
    await session.run({ text: "go" });
    expect(wire(team.other, 1)).toContain('has no tool \\"write_file\\"');
    expect(existsSync(join(team.place.cwd, "dir/b.txt"))).toBe(false);
  });
});

describe("25: limits that no agent can widen", () => {
  test("a global denial holds in a child, whatever it was granted and with --yes", async () => {
    team.configure({ permissions: [{ tool: "write_file", decision: "deny", reason: "frozen" }] });
    team.main.script(
      delegate("writer", "Write it."),
      chatReply("", [write("a.txt")]),
      chatReply("No."),
      chatReply("No."),
    );
    const { session, prompts } = await team.open({ yes: true });
    await session.run({ text: "go" });
    expect(wire(team.main, 2)).toContain("frozen");
    expect(prompts).toEqual([]);
    expect(existsSync(join(team.place.cwd, "a.txt"))).toBe(false);
  });

  test("secrets are out of reach for a child as for any agent", async () => {
    team.place.write(".env", "KEY=secret-value\n");
    team.main.script(delegate("reviewer", "Read it."), chatReply("Done."));
    team.other.script(
      anthropicReply("", [{ name: "read_file", input: { path: ".env" } }]),
      anthropicReply("No."),
    );
    const { session } = await team.open();
    await session.run({ text: "go" });
    expect(wire(team.other, 1)).not.toContain("secret-value");
  });

  test("an agent's own denial is a request to the user, which --yes does not answer", async () => {
    team.place.write("a.txt", "text\n");
    const denying = subAgent({
      permissions: [{ tool: "read_file", decision: "deny", reason: "by its own rule" }],
    });
    team.configure({ agents: { reviewer: denying } });
    const read = chatReply("", [{ name: "read_file", input: { path: "a.txt" } }]);
    team.main.script(delegate("reviewer", "Read."), read, chatReply("Read."), chatReply("Done."));
    const asked = await team.open();
    await asked.session.run({ text: "go" });
    expect(asked.prompts.at(-1)).toMatchObject({
      tool: "read_file",
      reason: expect.stringContaining("by its own rule"),
    });
    team.main.script(delegate("reviewer", "Read."), read, chatReply("Not read."), chatReply("Done."));
    const yes = await team.open({ yes: true });
    await yes.session.run({ text: "go" });
    expect(yes.prompts).toEqual([]);
    expect(wire(team.main, 6)).toContain("by its own rule");
  });
});

describe("26: what was not in the handoff", () => {
  const read = (path: string) => anthropicReply("", [{ name: "read_file", input: { path } }]);
  const grep = anthropicReply("", [{ name: "grep", input: { pattern: "marzipan", path: ".demian" } }]);

  test("is not to be fetched from the transcript or from other agents' outputs", async () => {
    team.place.write(".demian/tmp/output-call_of_main.txt", "marzipan\n");
    team.main.script(
      chatReply("A word of the main agent: marzipan."),
      delegate("reviewer", "Look."),
      chatReply("Done."),
    );
    const { session } = await team.open({ ask: () => Promise.resolve({ decision: "allow", always: true }) });
    await session.run({ text: "first" });
    const transcript = `.demian/transcripts/${session.id}/session.jsonl`;
    team.other.script(
      read(transcript),
      read(".demian/tmp/output-call_of_main.txt"),
      grep,
      anthropicReply("Nothing."),
    );
    await session.run({ text: "second" });
    expect(team.other.requests).toHaveLength(4);
    expect(wire(team.other, 3).replaceAll('"pattern":"marzipan"', "")).not.toContain("marzipan");
    expect(wire(team.other, 1)).toContain("belongs to the main conversation");
  });

  test("an output that the handoff names is readable, and the main agent reads everything", async () => {
    const file = ".demian/tmp/output-call_of_main.txt";
    team.place.write(file, "marzipan\n");
    team.main.script(delegate("reviewer", "Look.", { contextRefs: [file] }));
    team.main.script(chatReply("", [{ name: "read_file", input: { path: file } }]), chatReply("Done."));
    team.other.script(read(file), anthropicReply("Seen."));
    const { session, prompts } = await team.open();
    await session.run({ text: "go" });
    expect(prompts[0]?.invocation?.handoff).toContain(file);
    expect(wire(team.other, 1)).toContain("marzipan");
    expect(wire(team.main, 2)).toContain("marzipan");
  });
});

describe("30: a delegation to another provider", () => {
  test("is asked with agent, provider and the exact text to be sent", async () => {
    team.main.script(delegate("reviewer", "Look at a.txt."), chatReply("Done."));
    team.other.script(anthropicReply("Fine."));
    const { session, prompts } = await team.open();
    await session.run({ text: "review it please" });
    const { invocation } = prompts[0] ?? {};
    expect(invocation).toMatchObject({
      agent: "reviewer",
      provider: "b",
      model: "model-b",
      crossesProvider: true,
      receives: expect.arrayContaining(["the current user request"]),
    });
    const body = team.other.requests[0]?.body as { messages: { content: unknown }[] };
    expect(JSON.stringify(body.messages[0]?.content)).toContain(
      JSON.stringify(invocation?.handoff).slice(1, -1),
    );
    expect(invocation?.handoff).toContain("review it please");
  });

  test("one that came with the project says so, is asked about whatever the default is, and again when it changed", async () => {
    team.configure({ delegation: { defaultInvocationDecision: "allow" } });
    const file = (words: string) =>
      ["---", "description: Helps.", "mode: subagent", "tools:", "  visible: [read_file]", "---", words].join(
        "\n",
      );
    team.place.write(".demian/agents/guest.md", file("You help."));
    team.main.script(delegate("guest", "Help."), chatReply("Helped."), chatReply("Done."));
    const ask = () => Promise.resolve({ decision: "allow", always: true } as const);
    const first = await team.open({ ask });
    await first.session.run({ text: "go" });
    expect(first.prompts[0]?.invocation?.origin).toMatch(/\.demian\/agents\/guest\.md, not trusted$/);
    for (const words of ["You help.", "You do something else."]) {
      team.place.write(".demian/agents/guest.md", file(words));
      team.main.script(delegate("guest", "Help."), chatReply("Helped."), chatReply("Done."));
      const next = await team.open({ ask });
      await next.session.run({ text: "go" });
      expect(next.prompts).toHaveLength(words === "You help." ? 0 : 1);
    }
  });

  test("refused, nothing is sent, and the main agent is informed", async () => {
    team.main.script(delegate("reviewer", "Look."), chatReply("Then not."));
    const { session, events } = await team.open({
      ask: () => Promise.resolve({ decision: "deny", reason: "keep it here" }),
    });
    expect(await session.run({ text: "go" })).toMatchObject({ outcome: "completed", text: "Then not." });
    expect(team.other.requests).toEqual([]);
    expect(wire(team.main, 1)).toContain("keep it here");
    expect(events.some(({ type }) => type === "agent.invocation.started")).toBe(false);
  });

  test("always is for this agent with this provider, and not asked again", async () => {
    team.main.script(delegate("reviewer", "One."), delegate("reviewer", "Two."), chatReply("Done."));
    team.other.script(anthropicReply("1"), anthropicReply("2"));
    const { session, prompts } = await team.open({
      ask: () => Promise.resolve({ decision: "allow", always: true }),
    });
    await session.run({ text: "go" });
    expect(prompts).toHaveLength(1);
    expect(prompts[0]?.always).toMatch(/agent reviewer with the provider b/);
  });

  test("one that says of itself that it may be started is not asked about; denied ones are not started", async () => {
    team.configure({
      agents: {
        reviewer: subAgent({ provider: { profile: "b" }, delegation: { invocationDecision: "allow" } }),
        never: subAgent({ delegation: { invocationDecision: "deny" } }),
      },
    });
    team.main.script(delegate("reviewer", "One."), delegate("never", "Two."), chatReply("Done."));
    team.other.script(anthropicReply("1"));
    const { session, prompts } = await team.open();
    await session.run({ text: "go" });
    expect(prompts).toEqual([]);
    expect(wire(team.main, 2)).toMatch(/never may not be started/);
  });
});
