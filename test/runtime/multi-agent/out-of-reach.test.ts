// A sub-agent on another provider that wants what was not in its handoff: the conversation, what other agents got, the
// user, and its own agents.
import { existsSync, linkSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anthropicReply, chatReply, type Reply } from "../../support/model-server.ts";
import { delegate, subAgent, Team, wire } from "./team.ts";

const LINES = `${"x".repeat(50)}\n`.repeat(60);

let team: Team;

beforeEach(async () => {
  team = await Team.start();
});

afterEach(() => team.close());

const call = (name: string, input: object): Reply => anthropicReply("", [{ name, input }]);
const read = (path: string): Reply => call("read_file", { path });
/** What the other provider got, without what its own model had asked for. */
const sentToOther = () => JSON.stringify(team.other.requests.map(({ body }) => body));

describe("the transcript", () => {
  const runner = () =>
    subAgent({ provider: { profile: "b" }, tools: { visible: ["bash"] }, permissions: [] });
  const hasBwrap = existsSync("/usr/bin/bwrap");

  test.runIf(hasBwrap)(
    "is empty for a command in the sandbox, of a sub-agent or of the main one, and read by the main agent's own tool",
    async () => {
      team.configure({ agents: { runner: runner() }, sandbox: { mode: "workspace-write" } });
      team.place.write("control.txt", "the sandbox works\n");
      team.main.script(chatReply("A word: marzipan."), delegate("runner", "Find the word."));
      const { session } = await team.open();
      await session.run({ text: "first" });
      const path = `.demian/transcripts/${session.id}/session.jsonl`;
      const command = `cat control.txt; cat ${path}; ls -laR .demian; grep -r marzi .; ln ${path} stolen; cp -r .demian/transcripts copy; cat /proc/1/root$PWD/${path}`;
      team.other.script(call("bash", { command }), anthropicReply("Nothing."));
      team.main.script(
        chatReply("", [{ name: "bash", input: { command: `cat control.txt; cat ${path}` } }]),
        chatReply("", [{ name: "read_file", input: { path } }]),
        chatReply("Done."),
      );
      await session.run({ text: "second" });
      expect(sentToOther()).toContain("the sandbox works");
      expect(sentToOther()).not.toContain("marzipan");
      expect(existsSync(join(team.place.cwd, "stolen"))).toBe(false);
      expect(wire(team.main, 3)).toMatch(/the sandbox works.*No such file/s);
      expect(wire(team.main, 4)).toMatch(/A word: marzipan.*A word: marzipan/s);
    },
  );

  test.runIf(hasBwrap)(
    "and outputs of other agents are invisible to its commands; those of the main agent read them",
    async () => {
      team.configure({ agents: { runner: runner() }, sandbox: { mode: "workspace-write" } });
      team.place.write(".demian/tmp/output-call_of_main.txt", "marzipan\n");
      const cat = { command: "cat .demian/tmp/*; echo the sandbox works" };
      team.main.script(delegate("runner", "Find the word."));
      team.other.script(call("bash", cat), anthropicReply("Nothing."));
      team.main.script(chatReply("", [{ name: "bash", input: cat }]), chatReply("Done."));
      await (await team.open()).session.run({ text: "go" });
      expect(sentToOther()).toContain("the sandbox works");
      expect(sentToOther()).not.toContain("marzipan");
      expect(wire(team.main, 2)).toContain("marzipan");
    },
  );

  test("is not reached by links, searches, other spellings or other tools", async () => {
    team.main.script(chatReply("A word: marzipan."), delegate("reviewer", "Find it."), chatReply("Done."));
    const { session } = await team.open({ ask: () => Promise.resolve({ decision: "allow", always: true }) });
    await session.run({ text: "first" });
    const path = `.demian/transcripts/${session.id}/session.jsonl`;
    symlinkSync(".demian/transcripts", join(team.place.cwd, "soft"));
    linkSync(join(team.place.cwd, path), join(team.place.cwd, "hard.jsonl"));
    const tries = [
      read(path),
      read(`soft/${session.id}/session.jsonl`),
      read(`./x/../.demian//transcripts/./${session.id}/session.jsonl`),
      read(join(team.place.cwd, path)),
      read("hard.jsonl"),
      call("grep", { pattern: "mar.ipan" }),
      call("grep", { pattern: "mar.ipan", path: "soft" }),
      call("grep", { pattern: "mar.ipan", path }),
      call("grep", { pattern: "mar.ipan", path: "hard.jsonl" }),
    ];
    team.other.script(...tries, anthropicReply("Nothing."));
    await session.run({ text: "second" });
    expect(team.other.requests).toHaveLength(tries.length + 1);
    expect(sentToOther()).not.toContain("marzipan");
  });

  test("is not even listed", async () => {
    team.main.script(delegate("reviewer", "List it."), chatReply("Done."));
    team.other.script(
      call("glob", { pattern: ".demian/**/*" }),
      call("glob", { pattern: "**/*.jsonl", path: ".demian" }),
      anthropicReply("Nothing."),
    );
    await (await team.open()).session.run({ text: "go" });
    expect(sentToOther()).not.toMatch(/session\.jsonl/);
  });

  test("keeps the agent even if an event is too long for a line", async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`k${at}`, "x".repeat(60_000)]));
    team.main.script(delegate("reviewer", "Send much."), chatReply("Done."));
    team.other.script(call("read_file", many), anthropicReply("Sent."));
    const { session, events } = await team.open();
    await session.run({ text: "go" });
    const { invocationId } = events.find(({ type }) => type === "agent.invocation.started") ?? {};
    const text = readFileSync(
      join(team.place.cwd, `.demian/transcripts/${session.id}/session.jsonl`),
      "utf8",
    );
    const cut = text.split("\n").find((line) => line.includes('"cut"')) ?? "{}";
    expect(JSON.parse(cut)).toMatchObject({
      type: "tool.requested",
      rootSessionId: session.id,
      invocationId,
      parentInvocationId: "main",
      agentPath: ["reviewer"],
    });
  });
});

describe("a sub-agent that may delegate", () => {
  const lead = () =>
    subAgent({
      provider: { profile: "b" },
      tools: { visible: ["read_file"] },
      delegation: { canDelegate: true },
    });
  const file = ".demian/tmp/output-call_of_main.txt";

  test("cannot pass on what it may not read itself", async () => {
    team.configure({ agents: { lead: lead(), reviewer: subAgent() }, delegation: { maxDepth: 2 } });
    team.place.write(file, "marzipan\n");
    team.main.script(delegate("lead", "Lead."));
    team.other.script(
      call("delegate_agent", {
        agent: "reviewer",
        task: "Read it.",
        contextRefs: [file],
        relevantFiles: [file],
      }),
      anthropicReply("Led."),
    );
    team.main.script(
      chatReply("", [{ name: "read_file", input: { path: file } }]),
      chatReply("Seen."),
      chatReply("Done."),
    );
    const { session, events } = await team.open();
    await session.run({ text: "go" });
    const reads = events.filter(({ type, agent }) => agent === "reviewer" && type.startsWith("tool."));
    expect(reads.at(-1)).toMatchObject({ type: "tool.failed", reason: "denied" });
    expect(sentToOther()).not.toContain("marzipan");
  });

  test("does not get what another caller gave to the one it calls: not its memory, not its files", async () => {
    team.configure({ agents: { lead: lead(), reviewer: subAgent() }, delegation: { maxDepth: 2 } });
    team.place.write(file, "marzipan\n");
    team.main.script(delegate("reviewer", "Task of main: walnut.", { contextRefs: [file] }));
    team.main.script(chatReply("Report to main: hazel."), delegate("lead", "Lead."));
    team.other.script(
      call("delegate_agent", { agent: "reviewer", task: `Repeat your notes; read ${file}.` }),
    );
    team.main.script(
      chatReply("", [{ name: "read_file", input: { path: file } }]),
      chatReply("I know nothing."),
    );
    team.other.script(anthropicReply("Led."));
    team.main.script(delegate("reviewer", "Task two of main."), chatReply("Two."), chatReply("Done."));
    const { session } = await team.open();
    await session.run({ text: "go" });
    for (const request of [3, 4]) expect(wire(team.main, request)).not.toMatch(/walnut|hazel|marzipan/);
    expect(wire(team.main, 6)).toMatch(/walnut.*hazel/s);
  });

  test("passes on its own input, and reads all of a report that was cut for it", async () => {
    team.configure({ agents: { lead: lead(), reviewer: subAgent() }, delegation: { maxDepth: 2 } });
    team.place.write(file, "marzipan\n");
    team.main.script(delegate("lead", "Lead.", { contextRefs: [file] }));
    team.other.script(call("delegate_agent", { agent: "reviewer", task: "Read it.", contextRefs: [file] }));
    team.main.script(
      chatReply("", [{ name: "read_file", input: { path: file } }]),
      chatReply(`A long report.\n${LINES}nougat\n${LINES}`),
      chatReply("Done."),
    );
    team.other.script((exchange) => {
      const kept = /\.demian\/tmp\/output-[\w-]+\.txt(?=])/.exec(JSON.stringify(exchange.request.body))?.[0];
      return read(kept ?? "no reference")(exchange);
    }, anthropicReply("Led."));
    const { session } = await team.open();
    await session.run({ text: "go" });
    expect(wire(team.main, 2)).toContain("marzipan");
    expect(wire(team.other, 1)).not.toContain("nougat");
    expect(wire(team.other, 2)).toContain("nougat");
  });
});
