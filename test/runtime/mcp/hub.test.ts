import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import type { AgentDefinition } from "../../../src/runtime/agents/types.ts";
import { McpHub } from "../../../src/runtime/mcp/hub.ts";
import { expandMessage } from "../../../src/runtime/mcp/message.ts";
import type { McpOrder } from "../../../src/runtime/mcp/types.ts";
import type { ToolContext, ToolResult } from "../../../src/runtime/tools/types.ts";

const FAKE = fileURLToPath(new URL("../../fakes/hostile-mcp.mjs", import.meta.url));
const AGENT = { tools: { visible: ["mcp__*"] } } as unknown as AgentDefinition;
const NEVER = new AbortController().signal;

const directory = mkdtempSync(join(tmpdir(), "demian-mcp-"));
const hubs: McpHub[] = [];

afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close()));
});

interface Rig {
  hub: McpHub;
  warnings: string[];
  /** What the server wrote about itself. */
  log(): string;
  call(name: string, input?: object, signal?: AbortSignal): Promise<ToolResult>;
}

async function connect(mode: string, config: Partial<McpOrder["config"]> = {}): Promise<Rig> {
  const file = join(directory, `${mode}-${hubs.length}-${Math.random()}`);
  const order = {
    name: "fake",
    origin: "user" as const,
    config: { command: process.execPath, args: [FAKE, mode, file], ...config } as McpOrder["config"],
  };
  const env = { PATH: process.env["PATH"] ?? "" };
  const hub = new McpHub([order], { cwd: directory, userEnv: { TOKEN: "secret", KEY: "model key" }, env });
  hubs.push(hub);
  const warnings: string[] = [];
  hub.start({ warn: (message) => void warnings.push(message), changed: () => undefined });
  await hub.settle(NEVER);
  return {
    hub,
    warnings,
    log: () => readFileSync(file, "utf8"),
    call: async (name, input = {}, signal = NEVER) => {
      const tool = hub.tools(AGENT).find((one) => one.name === `mcp__fake__${name}`);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      const context = { signal, progress: () => undefined, keepOutput: async () => "kept" };
      return tool.execute(input, { title: "", targets: [] }, context as unknown as ToolContext);
    },
  };
}

describe("a server", () => {
  test("offers its tools in a stable order, under its name, and runs them", async () => {
    const { hub, call, warnings } = await connect("normal");
    expect(hub.tools(AGENT).map(({ name }) => name)).toEqual([
      "mcp__fake__echo",
      "mcp__fake__env",
      "mcp__fake__fail",
      "mcp__fake__grow",
    ]);
    expect(await call("echo", { text: "hi" })).toMatchObject({ ok: true, content: "echo hi" });
    expect(await call("fail")).toMatchObject({ ok: false, content: "it did not work" });
    expect(warnings).toEqual([]);
  });

  test("is never trusted about its own hints: every call is asked about", async () => {
    const { hub } = await connect("normal");
    const effects = hub.tools(AGENT).map(({ metadata }) => metadata);
    expect(new Set(effects.map(({ defaultDecision }) => defaultDecision))).toEqual(new Set(["ask"]));
    expect(new Set(effects.map(({ sideEffect }) => sideEffect))).toEqual(new Set(["external"]));
  });

  test("gets the environment it was given and its own variables, and nothing of ours", async () => {
    const { call } = await connect("normal", { env: { TOKEN: "$\u007bTOKEN}" } });
    expect((await call("env")).content.split(" ")).toEqual(["DEMIAN_MCP_ID", "PATH", "TOKEN"]);
  });

  test("is not started with a variable that is not set, and the message names it", async () => {
    const { warnings } = await connect("normal", { env: { A: "$\u007bMISSING}" } });
    expect(warnings).toEqual([expect.stringMatching(/fake is not available.*MISSING is not set/)]);
  });

  test("gives only the chosen tools, and reports those it does not have", async () => {
    const { hub, warnings } = await connect("normal", { tools: ["echo", "ecco"] });
    expect(hub.tools(AGENT).map(({ name }) => name)).toEqual(["mcp__fake__echo"]);
    expect(warnings).toEqual([expect.stringContaining("it has no tool ecco")]);
  });

  test("is seen only by agents whose list includes it", async () => {
    const { hub } = await connect("normal");
    const names = (visible: string[]) =>
      hub.tools({ tools: { visible } } as unknown as AgentDefinition).map(({ name }) => name);
    expect(names(["bash"])).toEqual([]);
    expect(hub.instructions({ tools: { visible: ["bash"] } } as unknown as AgentDefinition)).toBe("");
    expect(names(["mcp__fake__echo"])).toEqual(["mcp__fake__echo"]);
    expect(names(["mcp__fake__*"])).toHaveLength(4);
    expect(names(["mcp__other__*"])).toEqual([]);
  });

  test("that ends in a call fails that call, and the next one starts it again", async () => {
    const { call, warnings, hub } = await connect("mortal");
    expect(await call("echo", { text: "die" })).toMatchObject({
      ok: false,
      content: expect.stringContaining("it ended (exit 3)"),
    });
    expect(warnings).toEqual([expect.stringContaining("fake is not available: it ended (exit 3)")]);
    expect(await call("echo", { text: "again" })).toMatchObject({ ok: true, content: "echo again" });
    expect(hub.list()).toMatchObject([{ state: "ready" }]);
  });

  test("ends with the session, with every process it started", async () => {
    const { hub, log } = await connect("parent");
    const pids = [...log().matchAll(/^(?:start|child) (\d+)$/gm)].map(([, pid]) => Number(pid));
    expect(pids).toHaveLength(2);
    for (const pid of pids) expect(isAlive(pid)).toBe(true);
    await hub.close();
    for (const pid of pids) expect(isAlive(pid)).toBe(false);
  });
});

describe("a change of its list", () => {
  test("applies after a fold, not before, and keeps what was there", async () => {
    const { hub, call } = await connect("normal");
    await call("grow");
    await hub.settle(NEVER);
    expect(hub.tools(AGENT)).toHaveLength(4);
    expect(hub.list()).toMatchObject([{ hasChanges: true }]);
    hub.markFolded();
    await hub.settle(NEVER);
    expect(hub.tools(AGENT).map(({ name }) => name)).toContain("mcp__fake__extra0");
    expect(hub.list()).toMatchObject([{ hasChanges: false }]);
  });

  test("applies when the user refreshes", async () => {
    const { hub, call } = await connect("normal");
    await call("grow");
    await hub.refresh();
    expect(hub.tools(AGENT)).toHaveLength(5);
  });
});

describe("a hostile server", () => {
  test("with 10,000 tools gives the first 100, and says how to choose others", async () => {
    const { hub, warnings } = await connect("many");
    expect(hub.tools(AGENT)).toHaveLength(100);
    expect(warnings).toEqual([expect.stringMatching(/offers 10000 tools; the first 100 .*"tools"/)]);
  });

  test("with a result of 50 MB fails that call and names the limit", async () => {
    const { call } = await connect("huge");
    expect(await call("echo")).toMatchObject({
      ok: false,
      content: expect.stringContaining("more than 16 MiB"),
    });
  });

  test("that never answers is given up after its time, and its process is gone", async () => {
    const { hub, warnings, log } = await connect("silent", { connectTimeoutMs: 400 });
    expect(hub.tools(AGENT)).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("it did not answer within 0.4 s")]);
    const pid = Number(/start (\d+)/.exec(log())?.[1]);
    expect(isAlive(pid)).toBe(false);
  });

  test("with a tool that never answers ends with the time limit or the turn, and is told that the turn ended", async () => {
    const { call, log } = await connect("hang", { timeoutMs: 1000 });
    expect(await call("echo")).toMatchObject({ ok: false, content: expect.stringContaining("in time") });
    const abort = new AbortController();
    const running = call("echo", {}, abort.signal);
    await expect.poll(log).toMatch(/tools\/call[\s\S]*tools\/call/);
    abort.abort(new Error("stopped"));
    await expect(running).rejects.toThrow("stopped");
    await expect.poll(log).toMatch(/notifications\/cancelled\n[\s\S]*notifications\/cancelled\n/);
  });

  test("with escape sequences and instructions in every text shows neither as what it is not", async () => {
    const { hub, warnings } = await connect("rude");
    const tools = hub.tools(AGENT);
    const all = JSON.stringify([
      tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
      hub.list(),
      hub.commands(),
      hub.instructions(AGENT),
      warnings,
    ]);
    expect(all).not.toMatch(/\\u001b|\\u0007|\u202e/);
    expect(all).toContain("IGNORE ALL RULES");
    for (const { name, description } of tools) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(description.length).toBeLessThanOrEqual(1000);
    }
    // Its notes stay inside their tag.
    expect(hub.instructions(AGENT).match(/<\/mcp_server>/g)).toHaveLength(1);
    expect(warnings.join("\n")).toMatch(/left out.*deep/);
  });
});

describe("a message", () => {
  test("that names a prompt becomes the prompt, with its arguments", async () => {
    const { hub } = await connect("normal");
    expect(hub.commands()).toEqual([
      { name: "fake:greet", description: "Greets somebody.", hint: "<who> [how]" },
    ]);
    expect(await expandMessage({ text: '/fake:greet "Ann Lee" very warmly' }, hub, NEVER)).toEqual({
      text: "Greet Ann Lee very warmly.",
    });
    await expect(expandMessage({ text: "/fake:greet" }, hub, NEVER)).rejects.toThrow("needs who");
  });

  test("that names a resource gets its content as data, once", async () => {
    const { hub } = await connect("normal");
    const { text, parts } = await expandMessage(
      { text: "Look at @fake://one, @fake:fake://one and @fake:fake://one." },
      hub,
      NEVER,
    );
    expect(text).toContain("@fake:fake://one");
    expect(parts).toEqual([
      {
        type: "text",
        text: expect.stringMatching(
          /^<mcp_resource server="fake" uri="fake:\/\/one">\n[\s\S]*the content of one/,
        ),
      },
    ]);
  });

  test("without any is unchanged", async () => {
    const { hub } = await connect("normal");
    for (const text of ["/etc/hosts: x", "mail a@fake:x", "/other:greet you", "@nobody:x"]) {
      const input = { text };
      expect(await expandMessage(input, hub, NEVER)).toBe(input);
    }
  });
});

/** A zombie is not. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
