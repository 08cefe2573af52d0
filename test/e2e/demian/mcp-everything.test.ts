// The official test server of MCP behind demian, over stdio and over HTTP: its tools, a prompt and a resource.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AgentDefinition } from "../../../src/runtime/agents/types.ts";
import { McpHub } from "../../../src/runtime/mcp/hub.ts";
import { expandMessage } from "../../../src/runtime/mcp/message.ts";
import type { McpOrder } from "../../../src/runtime/mcp/types.ts";
import type { ToolContext } from "../../../src/runtime/tools/types.ts";

const PROGRAM = process.env["E2E_MCP_EVERYTHING"] ?? "";
const AGENT = { tools: { visible: ["mcp__*"] } } as unknown as AgentDefinition;
const NEVER = new AbortController().signal;

let hub: McpHub | undefined;
let server: ChildProcess | undefined;

beforeEach(() => {
  hub = undefined;
  server = undefined;
});

afterEach(async () => {
  await hub?.close();
  await stopServer();
});

async function stopServer(): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, "exit");
  server.kill("SIGKILL");
  await exited;
}

async function connect(config: McpOrder["config"]): Promise<{ hub: McpHub; warnings: string[] }> {
  const warnings: string[] = [];
  const env = { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" };
  const made = new McpHub([{ name: "every", origin: "user", config }], { cwd: "/tmp", userEnv: {}, env });
  hub = made;
  made.start({ warn: (message) => void warnings.push(message), changed: () => undefined });
  await made.settle(NEVER);
  return { hub: made, warnings };
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}

async function useEverything({ hub: used, warnings }: { hub: McpHub; warnings: string[] }): Promise<void> {
  expect(warnings).toEqual([]);
  const call = (name: string, input: object) => {
    const tool = used.tools(AGENT).find((one) => one.name === `mcp__every__${name}`);
    const progress: string[] = [];
    const context = {
      signal: NEVER,
      progress: (text: string) => void progress.push(text),
      keepOutput: async () => "kept",
    };
    return tool?.execute(input, { title: "", targets: [] }, context as unknown as ToolContext);
  };
  expect(await call("echo", { message: "hello" })).toMatchObject({ ok: true, content: "Echo: hello" });
  expect(await call("get-sum", { a: 2, b: 3 })).toMatchObject({ content: "The sum of 2 and 3 is 5." });
  expect(await call("get-sum", { a: "x" })).toMatchObject({ ok: false });
  const { text } = await expandMessage({ text: "/every:args-prompt Paris" }, used, NEVER);
  expect(text).toContain("Paris");
  const [mention = ""] = used.mentions();
  const { parts } = await expandMessage({ text: `Read ${mention}` }, used, NEVER);
  expect(parts).toMatchObject([{ type: "text", text: expect.stringContaining("<mcp_resource") }]);
}

test("over stdio", async () => {
  await useEverything(await connect({ command: process.execPath, args: [PROGRAM, "stdio"] }));
});

test("over HTTP, and again after the server was started anew", async () => {
  const port = await findFreePort();
  const start = async () => {
    server = spawn(process.execPath, [PROGRAM, "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    await once(server.stderr as NodeJS.ReadableStream, "data");
    const isUp = () =>
      fetch(`http://127.0.0.1:${port}/mcp`).then(
        () => true,
        () => false,
      );
    await expect.poll(isUp, { timeout: 20_000 }).toBe(true);
  };
  await start();
  const connected = await connect({ url: `http://127.0.0.1:${port}/mcp` });
  await useEverything(connected);
  await stopServer();
  await start();
  const [tool] = connected.hub.tools(AGENT);
  const context = { signal: NEVER, progress: () => undefined, keepOutput: async () => "kept" };
  const echo = () =>
    tool?.execute({ message: "hi" }, { title: "", targets: [] }, context as unknown as ToolContext);
  // It has forgotten us: that call fails, the next one connects again.
  expect(await echo()).toMatchObject({ ok: false });
  expect(await echo()).toMatchObject({ ok: true, content: "Echo: hi" });
});
