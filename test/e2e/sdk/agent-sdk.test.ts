// The examples of the Claude Agent SDK's documentation, with the real SDK, on `blemees-claude` instead of claude. The real
// claude runs in the daemon, on the scripted model.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { asObject } from "../../../src/base/values.ts";
import { PATIENT } from "../../support/patience.ts";
import { Machine } from "../manager/machine.ts";

type Message = Record<string, unknown> & {
  type: string;
  subtype?: string;
  session_id?: string;
  result?: string;
};
type Query = AsyncGenerator<Message> & {
  interrupt(): Promise<unknown>;
  setPermissionMode(mode: string): Promise<void>;
  setModel(model: string): Promise<void>;
  supportedCommands(): Promise<unknown[]>;
};
interface Sdk {
  query(order: { prompt: unknown; options: object }): Query;
  tool(name: string, description: string, shape: object, run: (given: never) => Promise<unknown>): unknown;
  createSdkMcpServer(about: object): unknown;
}

let machine: Machine;
let sdk: Sdk;
beforeAll(async () => {
  machine = await Machine.create();
  sdk = await import(pathToFileURL(process.env["E2E_CLAUDE_SDK"] ?? "").href);
});
afterAll(() => machine.close());

const options = (more: object = {}) => ({
  pathToClaudeCodeExecutable: join(machine.home, "bin/blemees-claude"),
  cwd: machine.cwd,
  env: { ...machine.env },
  stderr: (text: string) => notes.push(text),
  ...more,
});
const notes: string[] = [];

async function collect(query: AsyncIterable<Message>): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const message of query) messages.push(message);
  return messages;
}

const results = (messages: readonly Message[]) => messages.filter(({ type }) => type === "result");
const resultOf = (messages: readonly Message[]) => results(messages)[0]?.result ?? notes.join("");

const say = (content: string) => ({
  type: "user" as const,
  message: { role: "user" as const, content },
  parent_tool_use_id: null,
  session_id: "",
});

test("a simple query, and its session continues in the shell and in the next query", async () => {
  const messages = await collect(sdk.query({ prompt: "remember the grey owl", options: options() }));
  const types = messages.map(({ type, subtype }) => (type === "system" ? subtype : type));
  expect(types).toEqual(expect.arrayContaining(["init", "assistant", "result"]));
  expect(resultOf(messages)).toContain("You said: remember the grey owl");
  const id = messages.at(-1)?.session_id ?? "";
  expect(await machine.http.session(id)).toMatchObject({ backend: "claude", turns: 1, cwd: machine.cwd });
  expect(await machine.say(id, "hello from the shell")).toContain("hello from the shell");
  const again = await collect(sdk.query({ prompt: "#mock:context", options: options({ resume: id }) }));
  expect(resultOf(again)).toMatch(/grey owl.*hello from the shell/s);
  expect(again.at(-1)?.session_id).toBe(id);
  const newest = await collect(sdk.query({ prompt: "#mock:context", options: options({ continue: true }) }));
  expect(resultOf(newest)).toMatch(/grey owl/);
  expect(await machine.http.session(id)).toMatchObject({ turns: 4 });
});

test("streaming input: several turns, partial messages, the model and commands, and an interrupt", async () => {
  let next: (text: string | undefined) => void = () => undefined;
  const wanted: (string | undefined)[] = [];
  const wake = (text: string | undefined): void => {
    wanted.push(text);
    next(text);
  };
  async function* prompts() {
    for (;;) {
      if (wanted.length === 0) await new Promise((resolve) => (next = resolve));
      const text = wanted.shift();
      if (text === undefined) return;
      yield say(text);
    }
  }
  const query = sdk.query({ prompt: prompts(), options: options({ includePartialMessages: true }) });
  wake("one");
  const messages: Message[] = [];
  for await (const message of query) {
    messages.push(message);
    if (message.type === "stream_event" && results(messages).length === 2) {
      await query.interrupt();
    }
    if (message.type !== "result") continue;
    const count = results(messages).length;
    if (count === 1) {
      expect((await query.supportedCommands()).length).toBeGreaterThan(0);
      await query.setModel("sonnet");
      wake("two");
    }
    if (count === 2) wake("#mock:slow 600 50");
    if (count === 3) wake(undefined);
  }
  expect(results(messages).map(({ subtype }) => subtype)).toEqual([
    "success",
    "success",
    "error_during_execution",
  ]);
  expect(resultOf(results(messages).slice(1))).toContain("You said: two");
  expect(messages.some(({ type }) => type === "stream_event")).toBe(true);
  expect(machine.anthropic.requests.at(-1)).toMatchObject({ model: expect.stringMatching(/sonnet/) });
});

test("canUseTool: the program decides, through the ledger; the first answer counts", async () => {
  const asked: string[] = [];
  const canUseTool = async (name: string, input: Record<string, unknown>) => {
    asked.push(name);
    return String(input["command"]).includes("forbidden")
      ? { behavior: "deny", message: "not here" }
      : { behavior: "allow", updatedInput: { ...input, command: "mkdir made-instead" } };
  };
  const messages = await collect(
    sdk.query({ prompt: "#mock:bash mkdir made", options: options({ canUseTool }) }),
  );
  expect(asked).toEqual(["Bash"]);
  expect(existsSync(join(machine.cwd, "made"))).toBe(false);
  expect(existsSync(join(machine.cwd, "made-instead"))).toBe(true);
  const id = messages.at(-1)?.session_id ?? "";
  const [row] = await machine.http.allRequests({ session_id: id, include_settled: true });
  expect(row).toMatchObject({ status: "resolved", answer: { decision: "accept" } });
  const denied = await collect(
    sdk.query({ prompt: "#mock:bash mkdir forbidden", options: options({ canUseTool }) }),
  );
  expect(resultOf(denied)).toContain("not here");

  const never = new Promise<never>(() => undefined);
  let signal: AbortSignal | undefined;
  const waiting = collect(
    sdk.query({
      prompt: "#mock:bash mkdir made-by-the-shell",
      options: options({
        canUseTool: (_name: string, _input: unknown, about: { signal: AbortSignal }) => {
          signal = about.signal;
          return never;
        },
      }),
    }),
  );
  await vi.waitFor(() => expect(signal).toBeDefined(), PATIENT);
  const [pending] = await machine.requests();
  expect(await machine.sm("approve", "--yes", pending?.request_id ?? "")).toMatchObject({ code: 0 });
  await waiting;
  expect(existsSync(join(machine.cwd, "made-by-the-shell"))).toBe(true);
  expect(signal?.aborted).toBe(true);
});

test("custom tools and hooks run in the program", async () => {
  const used: unknown[] = [];
  const weather = sdk.tool(
    "weather",
    "the weather",
    { city: z.string() },
    async ({ city }: { city: string }) => ({
      content: [{ type: "text", text: `rain in ${city}` }],
    }),
  );
  const log = async (input: unknown) => {
    used.push(asObject(input)["tool_name"]);
    return {};
  };
  const block = async () => ({
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: "the hook says no",
    },
  });
  const messages = await collect(
    sdk.query({
      prompt: `#mock:steps ${JSON.stringify([
        ["mcp__home__weather", { city: "Bern" }],
        ["Bash", { command: "mkdir hooked" }],
      ])}`,
      options: options({
        mcpServers: { home: sdk.createSdkMcpServer({ name: "home", version: "1.0.0", tools: [weather] }) },
        allowedTools: ["mcp__home__weather", "Bash"],
        hooks: {
          PreToolUse: [{ matcher: "Bash", hooks: [block] }],
          PostToolUse: [{ hooks: [log] }],
        },
      }),
    }),
  );
  const outputs = JSON.stringify(messages.filter(({ type }) => type === "user"));
  expect(outputs, notes.join("")).toContain("rain in Bern");
  expect(outputs).toContain("the hook says no");
  expect(used).toEqual(["mcp__home__weather"]);
  expect(existsSync(join(machine.cwd, "hooked"))).toBe(false);
});

test("over a kill -9 of the daemon the query goes on, and what a session cannot have is refused", async () => {
  const running = collect(sdk.query({ prompt: "#mock:slow 40 50", options: options() }));
  await vi.waitFor(async () => {
    const [view] = await machine.http.sessions({ limit: 1 });
    expect(view?.turn).toBeDefined();
  }, PATIENT);
  const { pid } = await machine.http.status();
  process.kill(pid, "SIGKILL");
  await machine.sm("status");
  expect(resultOf(await running)).toContain("tick39");
  const refused = collect(
    sdk.query({ prompt: "hello", options: options({ extraArgs: { teleport: null } }) }),
  );
  await expect(refused).rejects.toThrow(/--teleport is not supported by blemees claude/);
  const { stdout } = await machine.start("blemees-claude", ["--version"]).ended();
  expect(stdout).toMatch(/^\d+\.\d+\.\d+ \(Claude Code, by blemees /);
});
