// demian without a terminal: in scripts and pipes. As a process: process.test.ts.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { chatReply, type ModelServer, startModelServer, status } from "../../support/model-server.ts";
import { run as runIn } from "./in-process.ts";
import { World } from "./world.ts";

const PNG = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(16)]);

const world = new World();
let model: ModelServer;

beforeEach(async () => {
  model = await startModelServer();
  world.begin(model.url);
});
afterEach(() => model.close());
afterAll(() => world.remove());

const run = (args: string[], input = "") => runIn(world, args, input);

const bodyOf = (index: number): string => JSON.stringify(model.requests[index]?.body);
const made = (name: string): boolean => world.has(name);
const bash = (command: string) => chatReply("", [{ name: "bash", input: { command } }]);

describe("a message", () => {
  test("on stdin is answered on stdout, and everything else is on stderr", async () => {
    model.script(chatReply("Hello **there**."));
    const { code, stdout, stderr } = await run([], "hi\n");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Hello **there**.\n" });
    expect(stderr).toContain("Hello **there**.");
    expect(stderr).not.toContain("\x1b");
  });

  test("as arguments gets piped text appended", async () => {
    model.script(chatReply("ok"));
    expect((await run(["review", "this"], "diff --git\n")).code).toBe(0);
    expect(bodyOf(0)).toContain('"review this\\n\\ndiff --git"');
  });

  test("with --prompt, images in their order, and every choice by flag", async () => {
    writeFileSync(join(world.workspace, "a.png"), PNG);
    model.script(chatReply("ok"));
    const flags = ["--provider", "other", "--model", "huge", "--agent", "plan", "--no-stream"];
    const images = ["--image", "a.png", "--image", "https://example.com/b.png"];
    const { stderr } = await run([...flags, ...images, "--prompt", "-look"]);
    expect(stderr).not.toContain("usage");
    expect(model.requests[0]?.body).toMatchObject({ model: "huge" });
    expect(model.requests[0]?.body).not.toMatchObject({ stream: true });
    expect(bodyOf(0)).toMatch(/-look.*data:image\/png;base64.*example\.com\/b\.png/);
  });

  test.each([
    ["nothing at all", [], "give a message"],
    ["an empty prompt", ["--prompt", " "], "the message is empty"],
    ["arguments and --prompt", ["--prompt", "a", "b"], "not both"],
    ["an unknown flag", ["--modle", "x", "hi"], "did you mean --model?"],
    ["nearly a command", ["list-agent"], "did you mean list-agents?"],
  ])("is missing with %s: exit 2 and what to do", async (_name, args, says) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
  });

  test("a provider that fails is exit 1 with its reason, and so is a limit of turns", async () => {
    model.script(status(401, { error: { message: "bad key" } }));
    const failed = await run(["hi"]);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toMatch(/✗ .*401|✗ .*key/);
    model.script(chatReply("", [{ name: "glob", input: { pattern: "*" } }]));
    const limited = await run(["--max-turns", "1", "hi"]);
    expect(limited.code).toBe(1);
    expect(limited.stderr).toContain("✗");
  });

  test("a provider without its key shows how to choose another", async () => {
    const { code, stderr } = await run(["--provider", "locked", "hi"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/NOT_SET_ANYWHERE.*--provider.*list-providers/);
  });

  test("control characters in an answer do not reach a pipe, and everything else does", async () => {
    model.script(chatReply("a \x1b[31mred\x1b[0m 👩\u200d💻"));
    const { stdout } = await run(["hi"]);
    expect(stdout).toBe("a \\x1b[31mred\\x1b[0m 👩\u200d💻\n");
  });

  test("--quiet leaves only the answer", async () => {
    model.script(chatReply("", [{ name: "glob", input: { pattern: "*" } }]), chatReply("ok"));
    expect(await run(["-q", "hi"])).toEqual({ code: 0, stdout: "ok\n", stderr: "" });
  });
});

describe("--json", () => {
  test("prints the events, one per line, and the report last", async () => {
    model.script(chatReply("", [{ name: "glob", input: { pattern: "*" } }]), chatReply("ok"));
    const { code, stdout } = await run(["--json", "hi"]);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(code).toBe(0);
    expect(lines.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        "session.started",
        "user.message",
        "tool.completed",
        "model.text.delta",
        "turn.ended",
      ]),
    );
    expect(lines.at(-1)).toMatchObject({ type: "result", outcome: "completed", text: "ok" });
  });

  test("an error is one document on stderr", async () => {
    const { code, stderr } = await run(["--json", "--provider", "locked", "hi"]);
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { message: expect.stringContaining("NOT_SET_ANYWHERE") },
    });
  });
});

describe("without a terminal", () => {
  test("a request is refused, with how to allow it", async () => {
    model.script(bash("touch made.txt"), chatReply("I could not."));
    const { code, stdout, stderr } = await run(["make it"]);
    expect({ code, stdout, made: made("made.txt") }).toEqual({
      code: 0,
      stdout: "I could not.\n",
      made: false,
    });
    expect(stderr).toMatch(/no terminal to ask on.*--yes.*permissions/);
    expect(stderr).toContain("denied (no one to ask)");
    const told = JSON.stringify(model.requests[1]?.body);
    expect(told).toContain("This needs the user's approval, and no user is available");
    expect(told).not.toContain("The user denied");
  });

  test("--yes allows it, and --dry-run still does nothing", async () => {
    model.script(bash("touch made.txt"), chatReply("done"));
    expect((await run(["--yes", "make it"])).stdout).toBe("done\n");
    expect(made("made.txt")).toBe(true);
    model.script(bash("touch other.txt"), chatReply("would have"));
    expect((await run(["--yes", "--dry-run", "make it"])).code).toBe(0);
    expect(made("other.txt")).toBe(false);
  });

  test("flags apply to the run: the next one uses the configuration", async () => {
    model.script(chatReply("one"), chatReply("two"));
    await run(["--provider", "other", "--model", "huge", "hi"]);
    await run(["hi"]);
    expect(model.requests.map(({ body }) => (body as { model?: string }).model)).toEqual(["huge", "small"]);
  });

  test.each([
    ["/compact", "no conversation to compact"],
    ["/model other", "/model works only in a chat"],
    ["/help", "/help works only in a chat"],
    ["/exit", "/exit works only in a chat"],
  ])(
    "%s is not sent to the model: a notice gives the reason, and nothing has failed",
    async (text, notice) => {
      const { code, stdout, stderr } = await run([text]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
      expect(stderr).toContain(notice);
      expect(model.requests).toEqual([]);
    },
  );

  test("with --json a command of the conversation is a result that says so", async () => {
    const { code, stdout } = await run(["--json", "/compact"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ type: "notice", command: "/compact" });
    expect(model.requests).toEqual([]);
  });

  test("an unknown command is a usage error that suggests the nearest one", async () => {
    const { code, stderr } = await run(["/compat"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /unknown command: \/compat; did you mean \/compact\?.*to send it as text, start with a space/,
    );
    expect(model.requests).toEqual([]);
  });

  test("a path, and text after a blank, is a message", async () => {
    model.script(chatReply("one"), chatReply("two"), chatReply("three"));
    for (const text of ["/etc/hosts is what?", " /compact", "/tmp"]) expect((await run([text])).code).toBe(0);
    expect(model.requests).toHaveLength(3);
  });

  test("an empty answer is reported", async () => {
    model.script(chatReply(""));
    const { code, stdout, stderr } = await run(["hi"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("the model returned no answer");
  });

  test("a transcript is written, but not with --no-transcript", async () => {
    model.script(chatReply("one"), chatReply("two"));
    await run(["--no-transcript", "hi"]);
    expect(made(".demian/transcripts")).toBe(false);
    await run(["hi"]);
    expect(made(".demian/transcripts")).toBe(true);
  });
});

describe("looking around", () => {
  test("agents, tools and providers are listed, for users, programs and shells", async () => {
    const agents = await run(["list-agents", "--json"]);
    expect(JSON.parse(agents.stdout)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: "build",
          isDefault: true,
          source: { scope: "builtin", trusted: true },
        }),
        expect.objectContaining({ name: "plan", mode: "primary" }),
      ]),
    );
    const tools = await run(["list-tools", "--names"]);
    expect(tools.stdout.split("\n")).toEqual(
      expect.arrayContaining(["bash", "edit_file", "glob", "grep", "read_file"]),
    );
    const { stdout } = await run(["list-providers"]);
    expect(stdout).toMatch(/^\* ✓ local +openai-compatible +small +ready$/m);
    expect(stdout).toMatch(/^ {2}✗ locked .*NOT_SET_ANYWHERE/m);
  });

  test("doctor succeeds with a provider that is ready, and exits with 1 if the config is broken", async () => {
    const well = await run(["doctor", "--json"]);
    expect(JSON.parse(well.stdout)).toMatchObject({ ok: true });
    expect(well.code).toBe(0);
    writeFileSync(world.configFile, '{ "maxTurns": "many" }');
    const broken = await run(["doctor"]);
    expect(broken.code).toBe(1);
    expect(broken.stdout).toMatch(/✗ config .*maxTurns/);
  });

  test("lists have a header, scripts get only names", async () => {
    for (const [list, head] of [
      ["list-agents", "AGENT"],
      ["list-tools", "TOOL"],
      ["list-providers", "PROVIDER"],
    ] as const) {
      expect((await run([list])).stdout.trimStart(), list).toMatch(new RegExp(`^${head} `));
      expect((await run([list, "--names"])).stdout, list).not.toContain(head);
    }
  });

  test("doctor policies reports rules for unknown tools", async () => {
    writeFileSync(world.configFile, '{ "permissions": [ {"tool": "Bash", "decision": "deny"} ] }');
    const { stderr } = await run(["doctor", "policies"]);
    expect(stderr).toContain('permissions[0].tool: demian has no tool "Bash"');
    expect(stderr).toContain("match nothing");
    expect(stderr).not.toContain("every rule names");
  });

  test("doctor policies shows the new names, and writes them only with --write, keeping a backup", async () => {
    const text = '{\n  "permissions": [ {"tool": "bash", "decision": "ask"} ]\n}\n';
    writeFileSync(world.configFile, text);
    const upgrade = ["doctor", "policies", "--upgrade-namespaces"];
    const shown = await run(upgrade);
    expect(shown.stdout).toContain('+  "permissions": [ {"tool": "demian.bash", "decision": "ask"} ]');
    expect(readFileSync(world.configFile, "utf8")).toBe(text);
    const { code } = await run([...upgrade, "--write"]);
    expect(code).toBe(0);
    expect(readFileSync(world.configFile, "utf8")).toBe(text.replace('"bash"', '"demian.bash"'));
    expect(readFileSync(`${world.configFile}.bak`, "utf8")).toBe(text);
    const again = await run([...upgrade, "--write"]);
    expect(again.stderr).toContain("every rule names its tools with their namespace");
    expect(existsSync(`${world.configFile}.bak.1`)).toBe(false);
  });
});
