import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PermissionPrompt } from "../../../src/runtime/permissions/types.ts";
import { createScriptedProvider, type ScriptedReply } from "../../../src/runtime/providers/scripted/index.ts";
import type { ChatRequest } from "../../../src/runtime/providers/types.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import type { DemianSession, Runtime, SessionOrder } from "../../../src/runtime/session-types.ts";
import { Place } from "../place.ts";

const FAKE = fileURLToPath(new URL("../../fakes/hostile-mcp.mjs", import.meta.url));
const SERVER = { command: process.execPath, args: [FAKE] };

let place: Place;
let runtimes: Runtime[];

beforeEach(() => {
  place = new Place();
  runtimes = [];
});

afterEach(async () => {
  await Promise.all(runtimes.map((runtime) => runtime.close()));
  await place.close();
});

interface Rig {
  session: DemianSession;
  requests: ChatRequest[];
  prompts: PermissionPrompt[];
  warnings: readonly string[];
}

async function open(replies: ScriptedReply[], order: Partial<SessionOrder> = {}, flags = {}): Promise<Rig> {
  const requests: ChatRequest[] = [];
  const prompts: PermissionPrompt[] = [];
  const provider = createScriptedProvider({
    reply: (request) => {
      requests.push(request);
      return replies.shift() ?? { text: "done" };
    },
  });
  const runtime = await createRuntime({
    cwd: place.cwd,
    env: place.env,
    flags: { defaultProvider: "script", ...flags },
    providers: new Map([["script", { key: "script", type: "scripted", model: "m", provider }]]),
  });
  runtimes.push(runtime);
  const session = await runtime.openSession({
    onEvent: () => undefined,
    ask: (prompt) => {
      prompts.push(prompt);
      return Promise.resolve({ decision: "deny", reason: "no" });
    },
    ...order,
  });
  return { session, requests, prompts, warnings: runtime.warnings };
}

const toolNames = ({ tools = [] }: ChatRequest) => tools.map(({ name }) => name);

describe("a session with MCP servers", () => {
  test("gives the model their tools, and asks before each call with the whole input", async () => {
    place.configure({ mcpServers: { files: SERVER } });
    const call = { id: "c1", name: "mcp__files__echo", input: { text: "hi" } };
    const { session, requests, prompts } = await open([{ toolCalls: [call] }, { text: "ok" }]);
    await session.run({ text: "go" });
    expect(toolNames(requests[0] as ChatRequest)).toEqual(
      expect.arrayContaining(["read_file", "mcp__files__echo"]),
    );
    expect(prompts).toMatchObject([
      {
        tool: "mcp__files__echo",
        input: { text: "hi" },
        always: expect.stringContaining("mcp__files__echo with any input, until its server changes it"),
      },
    ]);
    expect(session.history.at(-2)).toMatchObject({ role: "tool", isError: true });
  });

  test("a rule for the server allows its calls, and a denial stays one", async () => {
    place.configure({
      mcpServers: { files: SERVER },
      permissions: [
        { tool: "mcp__files__*", decision: "allow" },
        { tool: "mcp__files__fail", decision: "deny" },
      ],
    });
    const calls = ["echo", "fail"].map((name) => ({
      id: name,
      name: `mcp__files__${name}`,
      input: { text: "hi" },
    }));
    const { session, prompts } = await open([{ toolCalls: calls }]);
    await session.run({ text: "go" });
    expect(prompts).toEqual([]);
    expect(session.history.filter(({ role }) => role === "tool")).toMatchObject([
      { content: "echo hi" },
      { isError: true },
    ]);
  });

  test("takes those of its client under a name of their own", async () => {
    place.configure({ mcpServers: { files: SERVER } });
    const { session, requests } = await open([], { mcpServers: [{ name: "files", config: SERVER }] });
    await session.run({ text: "go" });
    expect(toolNames(requests[0] as ChatRequest)).toEqual(
      expect.arrayContaining(["mcp__files__echo", "mcp__files_2__echo"]),
    );
    expect(session.mcp?.list()).toMatchObject([{ origin: "user" }, { origin: "client" }]);
  });

  test("keeps system prompt and tools the same when a server adds a tool, until a fold", async () => {
    place.configure({
      mcpServers: { files: SERVER },
      permissions: [{ tool: "mcp__*", decision: "allow" }],
    });
    const grow = { id: "g", name: "mcp__files__grow", input: {} };
    const { session, requests } = await open([{ toolCalls: [grow] }]);
    for (const text of ["one", "two", "three"]) await session.run({ text });
    const [first, ...rest] = requests;
    for (const request of rest) {
      expect(request.tools).toEqual(first?.tools);
      expect(request.messages[0]).toEqual(first?.messages[0]);
    }
  });

  test("needs no server to answer: without one everything else works", async () => {
    place.configure({ mcpServers: { gone: { command: "/does/not/exist" } } });
    const { session, requests } = await open([{ text: "fine" }]);
    expect(await session.run({ text: "go" })).toMatchObject({ outcome: "completed", text: "fine" });
    expect(toolNames(requests[0] as ChatRequest)).toContain("read_file");
    expect(session.mcp?.list()).toMatchObject([{ state: "failed", problems: [expect.any(String)] }]);
  });
});

describe("a project's servers", () => {
  beforeEach(() => place.write(".demian/config.json", JSON.stringify({ mcpServers: { theirs: SERVER } })));

  test("are ignored before trust, with a warning that says how to trust them", async () => {
    const { session, warnings } = await open([]);
    expect(session.mcp).toBeUndefined();
    expect(warnings).toEqual([expect.stringMatching(/"mcpServers" is ignored.*demian trust/)]);
  });

  test("are used once trusted, and never replace the user's", async () => {
    place.configure({ mcpServers: { theirs: { command: "/the/users/own" } } });
    const { session, warnings } = await open([], {}, { trust: { project: true } });
    expect(session.mcp?.list()).toMatchObject([{ origin: "user", address: "/the/users/own" }]);
    expect(warnings).toEqual([expect.stringMatching(/mcpServers\.theirs.*you have a server with that name/)]);
    place.configure({});
    const trusted = await open([], {}, { trust: { project: true } });
    expect(trusted.session.mcp?.list()).toMatchObject([{ name: "theirs", origin: "project" }]);
  });
});
