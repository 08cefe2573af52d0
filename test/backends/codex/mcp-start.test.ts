// From options to a `codex mcp-server` that takes messages, or to an error with the reason.
import { afterEach, describe, expect, test, vi } from "vitest";
import { askVersion } from "../../../src/backends/codex/detect.ts";
import { buildMcpArgv } from "../../../src/backends/codex/mcp-server/arguments.ts";
import { shakeHands } from "../../../src/backends/codex/mcp-server/process.ts";
import { findByEnvironment } from "../../../src/base/descendants.ts";
import { JsonRpcPeer } from "../../../src/base/jsonrpc.ts";
import { fakeCodex, say, startFake } from "./mcp-fake.ts";

describe("the command line", () => {
  test.each<[string, object, string[]]>([
    ["nothing set", {}, []],
    ["a string unchanged", { model: "o 3" }, ["-c", "model=o 3"]],
    ["a boolean and a number", { hide: false, depth: 1.5 }, ["-c", "hide=false", "-c", "depth=1.5"]],
    ["anything else as compact JSON", { a: { b: [1, "x"] } }, ["-c", 'a={"b":[1,"x"]}']],
    ["features, sorted", { features: { on: true, off: false } }, ["--disable", "off", "--enable", "on"]],
    ["a value that looks like a flag stays a value", { x: "-c" }, ["-c", "x=-c"]],
  ])("%s", (_name, config, args) => {
    expect(buildMcpArgv({ config: { ...config } })).toEqual(["mcp-server", ...args]);
  });

  test.each<[string, object, string]>([
    ["a key that is a flag", { "--yolo": 1 }, "unsafe_flag"],
    ["a feature that is a flag", { features: { "--yolo": true } }, "invalid_message"],
    ["a key with =", { "a=b": 1 }, "invalid_message"],
    ["a NUL", { a: "x\0y" }, "invalid_message"],
  ])("%s is refused", (_name, config, code) => {
    expect(() => buildMcpArgv({ config: { ...config } })).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(/^\/options\/codex\/config/) }),
    );
  });

  test("it reaches the process, and the config goes with the first call too", async () => {
    const config = { hide_agent_reasoning: true, features: { web: false } };
    const started = await startFake({ config });
    expect(JSON.parse(await say(started, "#argv"))).toEqual([
      ...["mcp-server", "-c", "hide_agent_reasoning=true"],
      ...["--disable", "web"],
    ]);
    const [call] = JSON.parse(await say(started, "#received tools/call"));
    expect(call.params.arguments.config).toEqual(config);
  });

  test.each<[string, object]>([
    ["effort", { effort: "high" }],
    ["collaboration_mode", { collaboration_mode: "plan" }],
    ["output_schema", { output_schema: {} }],
    ["approval-policy", { "approval-policy": { granular: granularPolicy() } }],
  ])("%s is refused: only the app-server knows it", async (key, options) => {
    await expect(startFake({ ...options })).rejects.toMatchObject({
      code: "invalid_message",
      message: expect.stringMatching(`^/options/codex/${key}: .*mcp-server`),
    });
  });
});

function granularPolicy(): object {
  const kinds = ["sandbox_approval", "rules", "skill_approval", "request_permissions", "mcp_elicitations"];
  return Object.fromEntries(kinds.map((kind) => [kind, true]));
}

describe("the handshake", () => {
  test("initialize, initialized and tools/list, with the ids 1 and 2", async () => {
    const started = await startFake();
    expect(JSON.parse(await say(started, "#received initialize"))).toEqual([
      {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: {
          protocolVersion: "2024-11-05",
          capabilities: {},
          clientInfo: { name: "blemeesd", version: "0" },
        },
      },
    ]);
    expect(JSON.parse(await say(started, "#received notifications/initialized"))).toHaveLength(1);
    expect(JSON.parse(await say(started, "#received tools/list"))).toMatchObject([{ id: 2 }]);
  });

  test.each<[string, RegExp]>([
    ["no-mcp-server", /did not start: error: unrecognized subcommand/],
    ["silent-exit", /did not start: exit 1/],
    ["refuse-initialize", /did not start: initialize called more than once/],
    ["no-reply-tool", /did not start: it offers no tool codex-reply; .*0\.153 or older/],
    ["content-length", /did not start: .*Content-Length/],
  ])("%s is an error with the reason, and no process is left", async (fault, words) => {
    const codex = fakeCodex({ FAKE_CODEX_FAULT: fault });
    await expect(startFake({}, { codex })).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringMatching(words),
    });
    expect(await processesOf(codex.program.env["HOME"])).toEqual([]);
  });

  test("a program that does not exist, and a cwd that does not exist", async () => {
    const codex = fakeCodex({}, { command: "/nonexistent/codex" });
    await expect(startFake({}, { codex })).rejects.toMatchObject({ code: "spawn_failed" });
    await expect(startFake({ cwd: "/nonexistent" })).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringContaining("/nonexistent does not exist"),
    });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  test.each<[string, number]>([
    ["initialize", 0],
    ["tools/list", 1],
  ])("a codex that never answers %s is given up after the limit", async (method, answered) => {
    vi.useFakeTimers();
    let asked = 0;
    const peer = new JsonRpcPeer({
      write: async (line) => {
        const { id } = JSON.parse(line);
        if (id === undefined) return;
        asked += 1;
        if (asked <= answered) peer.receive({ id, result: {} });
      },
      handlers: { notification: () => undefined, request: () => undefined },
    });
    const server = {
      request: (name: string, params: object, timeoutMs = 0) =>
        peer.request(name, { ...params }, { timeoutMs }),
      notify: () => undefined,
    };
    const shaken = expect(shakeHands(server, 10_000)).rejects.toThrow(`no answer to ${method} within`);
    await vi.advanceTimersByTimeAsync(10_001);
    await shaken;
  });
});

describe("detect", () => {
  test("the version is the one in the server's handshake", async () => {
    const codex = fakeCodex({ FAKE_CODEX_VERSION: "0.153.2" });
    expect(await askVersion(codex.program, "mcp-server")).toBe("0.153.2");
    expect(await processesOf(codex.program.env["HOME"])).toEqual([]);
  });

  test.each(["no-mcp-server", "silent-exit", "no-reply-tool", "refuse-initialize", "content-length"])(
    "%s: undefined, and no process is left",
    async (fault) => {
      const codex = fakeCodex({ FAKE_CODEX_FAULT: fault });
      expect(await askVersion(codex.program, "mcp-server")).toBeUndefined();
      expect(await processesOf(codex.program.env["HOME"])).toEqual([]);
    },
  );

  test("no program: undefined", async () => {
    expect(
      await askVersion(fakeCodex({}, { command: "/nonexistent/codex" }).program, "mcp-server"),
    ).toBeUndefined();
  });

  test("one that never answers, and does not exit on its own, is ended", async () => {
    const codex = fakeCodex({ FAKE_CODEX_FAULT: "no-tools-list" });
    expect(await askVersion(codex.program, "mcp-server")).toBeUndefined();
    expect(await processesOf(codex.program.env["HOME"])).toEqual([]);
  });
});

/** Every fake has its own home, which identifies its processes. */
function processesOf(home: string | undefined): Promise<unknown[]> {
  return findByEnvironment("HOME", (value) => value === home);
}
