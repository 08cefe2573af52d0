// Claude Code as demian's agent, as it is installed: what it says, what it may do, what it leaves behind.
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { untilGone, untilRuns } from "../processes.ts";
import { ClaudeCodeWorld, LOGIN, of } from "./claudecode-world.ts";

describe.each(["agent-sdk", "cli"] as const)("by %s", (runtime) => {
  let world: ClaudeCodeWorld;

  beforeEach(async () => {
    world = await ClaudeCodeWorld.open(runtime);
  });

  afterEach(() => world.close());

  const path = (name: string) => join(world.place.cwd, name);
  const tool = (name: string, input: object) => `#mock:tool ${name} ${JSON.stringify(input)}`;

  test("an answer comes word by word, and is remembered with the next message", async () => {
    const { session, events } = await world.session();
    const report = await session.run({ text: "#mock:think Hello from there." });
    expect(report).toMatchObject({ outcome: "completed", text: "Hello from there.", turns: 1 });
    expect(report.usage).toMatchObject({ inputTokens: 18, outputTokens: 20 });
    expect(of(events, "model.text.delta").length).toBeGreaterThan(1);
    expect(
      of(events, "model.reasoning.delta")
        .map(({ text }) => text)
        .join(""),
    ).toContain("Two.");
    expect(of(events, "model.text")).toMatchObject([{ text: "Hello from there.", final: true }]);
    const next = await session.run({ text: "#mock:context" });
    expect(next.text).toContain("Hello from there.");
    expect(session.history.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });

  test("the login pays: no key reaches it, nor its commands", async () => {
    world.place.env["ANTHROPIC_API_KEY"] = "sk-ant-of-the-company";
    world.place.env["ANTHROPIC_AUTH_TOKEN"] = "of-the-company";
    const { session, events } = await world.session();
    await session.run({ text: "#mock:bash env" });
    const [seen] = of(events, "tool.completed");
    expect(seen?.content).toContain(`HOME=${world.place.home}`);
    expect(seen?.content).not.toContain("of-the-company");
    expect(new Set(world.model.payers)).toEqual(new Set([`Bearer ${LOGIN}`]));
  });

  test("the agent's own words are added to Claude Code's", async () => {
    const { session } = await world.session({ agent: "build" });
    await session.run({ text: "#mock:text ok" });
    const system = JSON.stringify(world.model.requests[0]);
    expect(system).toContain("You are Claude Code");
    expect(system).toContain("software engineering");
  });

  test("what changes something is asked for, shown as it will be, and done when it is allowed", async () => {
    world.place.write("a.txt", "one\ntwo\n");
    const { session, events, prompts } = await world.session();
    const steps = [
      ["Read", { file_path: path("a.txt") }],
      ["Edit", { file_path: path("a.txt"), old_string: "two", new_string: "three" }],
    ];
    const report = await session.run({ text: `#mock:steps ${JSON.stringify(steps)}` });
    expect(report.outcome).toBe("completed");
    expect(prompts).toMatchObject([
      {
        tool: "Edit",
        executor: "claudecode",
        title: "Edit: a.txt",
        changes: [{ path: "a.txt", oldText: "one\ntwo\n", newText: "one\nthree\n" }],
      },
    ]);
    expect(world.place.read("a.txt")).toBe("one\nthree\n");
    const told = events.flatMap((event) =>
      /^(tool|permission)\./.test(event.type)
        ? [`${event.type} ${"name" in event ? event.name : ""}`.trim()]
        : [],
    );
    expect(told).toEqual([
      "tool.requested Read",
      "permission.granted",
      "tool.started Read",
      "tool.completed Read",
      "tool.requested Edit",
      "permission.requested",
      "permission.granted",
      "tool.started Edit",
      "tool.completed Edit",
    ]);
    expect(of(events, "tool.started")[1]).toMatchObject({
      title: "Edit: a.txt",
      changes: [{ path: "a.txt" }],
    });
    expect(of(events, "permission.requested")[0]).toMatchObject({ targetName: "claudecode.Edit" });
  });

  test("a refusal reaches its model with the reason, and nothing was done", async () => {
    const { session, events } = await world.session({
      ask: () => Promise.resolve({ decision: "deny", reason: "not on a Monday" }),
    });
    const report = await session.run({ text: tool("Write", { file_path: path("n.txt"), content: "x" }) });
    expect(report.outcome).toBe("completed");
    expect(report.text).toContain("not on a Monday");
    expect(existsSync(path("n.txt"))).toBe(false);
    expect(of(events, "tool.failed")).toMatchObject([{ name: "Write", reason: "denied" }]);
  });

  test("a refusal that stops ends the turn", async () => {
    const { session } = await world.session({ ask: () => Promise.resolve({ decision: "deny", stop: true }) });
    const report = await session.run({ text: "#mock:bash echo no > n.txt" });
    expect(report).toMatchObject({ outcome: "denied" });
    expect(existsSync(path("n.txt"))).toBe(false);
  });

  test("environment files are read by no tool of it, whatever is allowed", async () => {
    world.place.write(".env", "SECRET=abc\n");
    world.place.write("sub/.env.local", "SECRET=def\n");
    world.place.write("a.txt", "SECRET is elsewhere\n");
    const { session, events, prompts } = await world.session({ yes: true });
    symlinkSync(".env", path("link"));
    const steps = [
      ["Read", { file_path: path(".env") }],
      ["Grep", { pattern: "SECRET", output_mode: "content" }],
      ["Grep", { pattern: "SECRET", output_mode: "content", path: path("sub") }],
      ["Bash", { command: "cat .env sub/.env.local" }],
      ["Read", { file_path: path("link") }],
    ];
    await session.run({ text: `#mock:steps ${JSON.stringify(steps)}` });
    const said = events.flatMap((event) => ("content" in event ? [event.content] : []));
    expect(said).toHaveLength(steps.length);
    expect(said.join("\n")).not.toMatch(/abc|def/);
    expect(said[1]).toContain("SECRET is elsewhere");
    expect(prompts).toEqual([]);
  });

  test("it reads nothing outside the workspace, by whatever name", async () => {
    const { session, events } = await world.session({ yes: true });
    const paths = ["/etc/hostname", "~/.claude/.credentials.json", " /etc/hostname", "../home/.claude.json"];
    const steps = paths.map((file_path) => ["Read", { file_path }]);
    await session.run({ text: `#mock:steps ${JSON.stringify(steps)}` });
    const denied = of(events, "permission.denied");
    expect(denied).toHaveLength(4);
    for (const { reason } of denied) expect(reason).toBe("the path is outside the workspace");
  });

  test("nothing of a repository runs or decides: no hook, no server, no rule", async () => {
    const ran = (name: string) => ({ type: "command", command: `touch ${path(name)}` });
    const hooks = Object.fromEntries(
      ["SessionStart", "UserPromptSubmit", "PreToolUse"].map((event) => [event, [{ hooks: [ran(event)] }]]),
    );
    const permissions = { allow: ["Bash", "Write"] };
    world.place.write(".claude/settings.json", JSON.stringify({ hooks, permissions }));
    const servers = { evil: { command: "touch", args: [path("SERVER")] } };
    world.place.write(".mcp.json", JSON.stringify({ mcpServers: servers }));
    const { session, prompts } = await world.session();
    expect((await session.run({ text: "#mock:bash echo asked" })).text).toContain("asked");
    expect(prompts).toHaveLength(1);
    for (const name of [...Object.keys(hooks), "SERVER"]) expect(existsSync(path(name))).toBe(false);
  });

  test("its question is the person's, and the answer goes back", async () => {
    const asked: unknown[] = [];
    const { session } = await world.session({
      question: (question) => {
        asked.push(question);
        return Promise.resolve("B");
      },
    });
    const options = ["A", "B"].map((label) => ({ label, description: label }));
    const question = { question: "Which?", header: "W", multiSelect: false, options };
    const report = await session.run({ text: tool("AskUserQuestion", { questions: [question] }) });
    expect(asked).toEqual([{ text: "Which?", options: ["A", "B"] }]);
    expect(report.text).toContain('"Which?"="B"');
  });

  test("its sub-agents are not offered unless the user wants them", async () => {
    const { session } = await world.session();
    const input = { description: "d", prompt: "#mock:text from below", subagent_type: "general-purpose" };
    expect((await session.run({ text: tool("Agent", input) })).text).toContain("No such tool available");
    world.configure({ allowSubagents: true });
    const other = await world.session();
    expect((await other.session.run({ text: tool("Agent", input) })).text).toContain("from below");
    expect(other.prompts).toMatchObject([{ tool: "Agent", executor: "claudecode" }]);
  });

  test("an image arrives", async () => {
    const { session } = await world.session();
    const png =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const report = await session.run({
      text: "#mock:image",
      parts: [{ type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }],
    });
    expect(report.text).toBe("images: image/png");
  });

  test("an abort in the middle of an answer keeps what was said, and leaves no process", async () => {
    const { session, events } = await world.session();
    const running = session.run({ text: "#mock:slow 500 20" });
    await expect.poll(() => of(events, "model.text.delta").length, { timeout: 20_000 }).toBeGreaterThan(1);
    await session.abort();
    const report = await running;
    expect(report.outcome).toBe("aborted");
    expect(report.text).toMatch(/^tick0/);
    await untilGone(world.mark);
  });

  test("an abort while its command runs ends the command too", async () => {
    const { session, events } = await world.session();
    const running = session.run({ text: "#mock:bash sleep 4242" });
    await untilRuns(world.mark, "sleep 4242");
    await session.abort();
    expect(await running).toMatchObject({ outcome: "aborted" });
    await untilGone(world.mark);
    expect(of(events, "tool.failed")).toMatchObject([{ name: "Bash", reason: "aborted" }]);
  });

  test("an abort while a person is asked ends the question", async () => {
    let ended = false;
    const { session } = await world.session({
      ask: (_prompt, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            ended = true;
            reject(new Error("gone"));
          });
          void session.abort();
        }),
    });
    expect(await session.run({ text: "#mock:bash echo never > n.txt" })).toMatchObject({
      outcome: "aborted",
    });
    expect(ended).toBe(true);
    expect(existsSync(path("n.txt"))).toBe(false);
    await untilGone(world.mark);
  });

  test("a plan is the answer, and nothing of it is carried out", async () => {
    const { session, prompts } = await world.session({ provider: "claudecode-plan", yes: true });
    const steps = [
      ["Bash", { command: `touch ${path("DONE")}` }],
      ["Write", { file_path: path("DONE"), content: "x" }],
      ["Write", { file_path: "$PLAN_FILE", content: "# Plan\n1. one" }],
      ["ExitPlanMode", {}],
    ];
    const report = await session.run({ text: `#mock:steps ${JSON.stringify(steps)}` });
    expect(report).toMatchObject({ outcome: "completed", text: "# Plan\n1. one", plan: "# Plan\n1. one" });
    expect(session.plan).toBe("# Plan\n1. one");
    expect(prompts).toEqual([]);
    expect(existsSync(path("DONE"))).toBe(false);
  });

  test("the number of its turns has an end, and that is said", async () => {
    world.configure({}, { maxTurns: 2 });
    const { session } = await world.session({ yes: true });
    const step = ["Bash", { command: "true" }];
    const report = await session.run({ text: `#mock:steps ${JSON.stringify([step, step, step, step])}` });
    expect(report).toMatchObject({ outcome: "max_turns" });
  });

  test("without a login nothing is started, and what to do is said", async () => {
    world.place.env["CLAUDE_CONFIG_DIR"] = join(world.place.home, "elsewhere");
    const { session } = await world.session();
    const report = await session.run({ text: "#mock:text never" });
    expect(report).toMatchObject({ outcome: "failed", failure: { kind: "auth" } });
    expect(report.message).toMatch(/not logged in.*elsewhere.*\/login/);
    expect(world.model.requests).toEqual([]);
  });

  test("a login that the vendor refuses is a failure with what to do", async () => {
    const { session } = await world.session();
    const report = await session.run({ text: "#mock:err 401" });
    expect(report).toMatchObject({ outcome: "failed", failure: { kind: "auth" } });
    expect(report.message).toMatch(/\/login/);
  });
});
