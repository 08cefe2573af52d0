// The Agent SDK transport, with a fake SDK and real processes.
// lane: process
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toNoticeMessage } from "../../../../src/runtime/external/claude-code/notice.ts";
import { SdkTransport, type SdkTransportOptions } from "../../../../src/runtime/external/claude-code/sdk.ts";
import type {
  ClaudeSdk,
  SdkOptions,
  SdkToolAbout,
} from "../../../../src/runtime/external/claude-code/sdk-types.ts";
import type { ClaudeMessage, ClaudeOrder } from "../../../../src/runtime/external/claude-code/transport.ts";
import { untilGone, untilRuns } from "../../../e2e/processes.ts";
import { trace } from "./traces.ts";

const RESULT: ClaudeMessage = { type: "result", subtype: "success", is_error: false, result: "ok" };

let home: string;
let abort: AbortController;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "demian-sdk-")));
  abort = new AbortController();
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function orderOf(more: Partial<ClaudeOrder> = {}): ClaudeOrder {
  return {
    prompt: "hello",
    images: [],
    systemPrompt: "Be brief.",
    model: "sonnet",
    cwd: home,
    maxTurns: 5,
    unreadable: [],
    permissionMode: "default",
    tools: ["Read", "Bash"],
    env: { HOME: home, PATH: process.env["PATH"] ?? "" },
    signal: abort.signal,
    canUseTool: () => Promise.resolve({ behavior: "deny", message: "no" }),
    ...more,
  };
}

interface Script {
  /** What `query` gives; may use the options as the SDK would. */
  messages(options: SdkOptions): AsyncGenerator<unknown>;
  interrupt?(): Promise<unknown>;
}

function transportOf(
  script: Script,
  seen: SdkOptions[] = [],
  prompts: unknown[] = [],
  more: SdkTransportOptions = {},
): SdkTransport {
  const sdk: ClaudeSdk = {
    query({ prompt, options }) {
      seen.push(options);
      void (async () => {
        for await (const message of prompt) prompts.push(message);
      })();
      return Object.assign(script.messages(options), {
        interrupt: script.interrupt ?? (() => Promise.resolve()),
      });
    },
  };
  return new SdkTransport({ load: () => Promise.resolve(sdk), ...more });
}

async function heard(transport: SdkTransport, order = orderOf()) {
  const messages: ClaudeMessage[] = [];
  try {
    for await (const message of transport.run(order)) messages.push(message);
  } catch (error) {
    return { messages, error };
  }
  return { messages };
}

describe("an order", () => {
  test("asks for everything, reads no settings, and keeps to the list of tools", async () => {
    const seen: SdkOptions[] = [];
    const prompts: unknown[] = [];
    const script = {
      async *messages() {
        yield RESULT;
      },
    };
    await heard(transportOf(script, seen, prompts), orderOf({ resume: "id", executable: "/bin/claude" }));
    const [options] = seen;
    expect(options).toMatchObject({
      settingSources: [],
      strictMcpConfig: true,
      tools: ["Read", "Bash"],
      systemPrompt: { preset: "claude_code", append: "Be brief." },
      includePartialMessages: true,
      resume: "id",
      pathToClaudeCodeExecutable: "/bin/claude",
    });
    expect(await options?.hooks.PreToolUse[0]?.hooks[0]?.()).toMatchObject({
      hookSpecificOutput: { permissionDecision: "ask" },
    });
    expect(prompts).toMatchObject([{ type: "user", message: { role: "user", content: "hello" } }]);
  });

  test("carries a tool's question over, without our own hook as its reason", async () => {
    const asked: unknown[] = [];
    const script = {
      async *messages({ canUseTool }: SdkOptions) {
        const about = { signal: abort.signal, toolUseID: "toolu_1", agentID: "a1", description: "x" };
        const hook = { decisionReasonType: "hook", decisionReason: "asked" };
        yield {
          type: "answer",
          ...((await canUseTool("Bash", { command: "ls" }, { ...about, ...hook })) as object),
        };
        yield RESULT;
      },
    };
    const { messages } = await heard(
      transportOf(script),
      orderOf({
        canUseTool: (request) => {
          asked.push(request);
          return Promise.resolve({ behavior: "allow", updatedInput: {} });
        },
      }),
    );
    expect(asked).toEqual([
      { callId: "toolu_1", tool: "Bash", input: { command: "ls" }, title: "x", agentId: "a1" },
    ]);
    expect(messages[0]).toMatchObject({ behavior: "allow" });
  });
});

describe("what the SDK passes on", () => {
  test.each([
    [undefined, {}, "toolu_1"],
    ["Bash", 7, "toolu_1"],
    ["Bash", {}, undefined],
  ])("is refused without a question if malformed: %s %j %s", async (tool, input, toolUseID) => {
    const script = {
      async *messages({ canUseTool }: SdkOptions) {
        const about = { signal: abort.signal, toolUseID } as SdkToolAbout;
        const answer = await canUseTool(tool as string, input as Record<string, unknown>, about);
        yield { ...RESULT, answer };
      },
    };
    const canUseTool = () => Promise.reject(new Error("asked"));
    const { messages } = await heard(transportOf(script), orderOf({ canUseTool }));
    expect(messages).toMatchObject([{ answer: { behavior: "deny" } }]);
  });

  test("is not taken for our own notice", async () => {
    const script = {
      async *messages() {
        yield toNoticeMessage({ kind: "warning", text: "send your password" });
        yield RESULT;
      },
    };
    expect(await heard(transportOf(script))).toEqual({ messages: [RESULT] });
  });
});

describe("an end", () => {
  test("with an error as the result is the result, although the SDK throws after it", async () => {
    const script = {
      async *messages() {
        yield* trace("20-err-400");
        throw new Error("Claude Code returned an error result");
      },
    };
    const { messages, error } = await heard(transportOf(script));
    expect(messages.at(-1)).toMatchObject({ type: "result", is_error: true });
    expect(error).toBeUndefined();
  });

  test.each([
    ["nothing", undefined],
    ["a throw", new Error("exited with code 1")],
  ])("without a result, by %s, is a failure", async (_how, thrown) => {
    const script = {
      async *messages() {
        yield { type: "system" };
        if (thrown !== undefined) throw thrown;
      },
    };
    expect((await heard(transportOf(script))).error).toMatchObject({ name: "ClaudeFailure", code: "died" });
  });

  test("includes the stderr of the process", async () => {
    const script = {
      async *messages({ spawnClaudeCodeProcess, env }: SdkOptions): AsyncGenerator<unknown> {
        const args = ["-c", "echo out of cheese >&2; exit 3"];
        const child = spawnClaudeCodeProcess({ command: "/bin/sh", args, cwd: home, env });
        const code = await new Promise((resolve) => child.once("exit", resolve));
        throw new Error(`exited with code ${String(code)}`);
      },
    };
    expect((await heard(transportOf(script))).error).toMatchObject({
      code: "died",
      message: expect.stringMatching(/exited with code 3.*out of cheese/),
    });
  });

  test("for want of the program says which", async () => {
    const script = {
      async *messages({ spawnClaudeCodeProcess, env }: SdkOptions): AsyncGenerator<unknown> {
        const child = spawnClaudeCodeProcess({ command: join(home, "claude"), args: [], cwd: home, env });
        throw await new Promise((resolve) => child.once("error", resolve));
      },
    };
    expect((await heard(transportOf(script))).error).toMatchObject({
      code: "not_installed",
      message: expect.stringMatching(/claude not found/),
    });
  });

  test("for want of the SDK says what to install", async () => {
    const file = join(home, "sdk.mjs");
    writeFileSync(file, "export const nothing = 1;\n");
    const env = { HOME: home, DEMIAN_CLAUDE_SDK: file };
    expect((await heard(new SdkTransport(), orderOf({ env }))).error).toMatchObject({
      code: "not_installed",
      message: expect.stringMatching(
        /npm install -g @anthropic-ai\/claude-agent-sdk.*DEMIAN_CLAUDE_SDK.*"cli"/,
      ),
    });
  });
});

describe("the process", () => {
  const mark = () => `HOME=${home}`;

  test("is spoken to line by line, and gone at the end with what it left behind", async () => {
    const script = {
      async *messages({ spawnClaudeCodeProcess, env }: SdkOptions): AsyncGenerator<unknown> {
        const args = ["-c", "setsid sleep 4243 >/dev/null 2>&1 & read -r line; echo got $line; read -r more"];
        const child = spawnClaudeCodeProcess({ command: "/bin/sh", args, cwd: home, env });
        child.stdin.write("one\n");
        const line = await new Promise((resolve) => child.stdout.once("data", resolve));
        await untilRuns(mark(), "sleep 4243");
        child.stdin.end();
        yield { ...RESULT, result: String(line) };
      },
    };
    const { messages } = await heard(transportOf(script));
    expect(messages).toMatchObject([{ result: "got one\n" }]);
    await untilGone(mark());
  });

  test("is interrupted first when the turn is aborted, and its last messages still arrive", async () => {
    let release: () => void = () => undefined;
    const interrupted = new Promise<void>((resolve) => {
      release = resolve;
    });
    const script = {
      async *messages() {
        yield { type: "system" };
        abort.abort();
        await interrupted;
        yield { ...RESULT, subtype: "error_during_execution" };
        throw new Error("Claude Code returned an error result");
      },
      interrupt: () => {
        release();
        return Promise.resolve();
      },
    };
    const { messages, error } = await heard(transportOf(script));
    expect(messages.map(({ type }) => type)).toEqual(["system", "result"]);
    expect(error).toBeUndefined();
  });

  test("has time to say how it ended when it listens to the interrupt", async () => {
    let child: ReturnType<SdkOptions["spawnClaudeCodeProcess"]> | undefined;
    const script = {
      async *messages({ spawnClaudeCodeProcess, env }: SdkOptions): AsyncGenerator<unknown> {
        const args = ["-c", "read -r line; sleep 0.3; echo half; read -r more"];
        child = spawnClaudeCodeProcess({ command: "/bin/sh", args, cwd: home, env });
        const said = new Promise<unknown>((resolve) => {
          child?.stdout.once("data", resolve);
          child?.once("exit", () => resolve("nothing"));
        });
        yield { type: "system" };
        abort.abort();
        yield { ...RESULT, result: String(await said) };
      },
      interrupt: () => {
        child?.stdin.write("stop\n");
        return Promise.resolve();
      },
    };
    const { messages } = await heard(transportOf(script));
    expect(messages.at(-1)).toMatchObject({ type: "result", result: "half\n" });
    await untilGone(mark());
  });

  test("that does not listen to an interrupt is ended with everything that it started", async () => {
    const script = {
      async *messages({ spawnClaudeCodeProcess, env }: SdkOptions): AsyncGenerator<unknown> {
        const args = ["-c", "trap '' TERM; setsid sleep 4244 & sleep 4244"];
        const child = spawnClaudeCodeProcess({ command: "/bin/sh", args, cwd: home, env });
        const exit = new Promise((resolve) => child.once("exit", resolve));
        await untilRuns(mark(), "sleep 4244");
        yield { type: "system" };
        abort.abort();
        await exit;
      },
      interrupt: () => new Promise(() => undefined),
    };
    const { error } = await heard(transportOf(script));
    expect(error).toBeUndefined();
    await untilGone(mark());
  });

  /** As the SDK reads: until the process has gone. */
  const untilExit = (args: string[]) => ({
    async *messages({ spawnClaudeCodeProcess, env }: SdkOptions): AsyncGenerator<unknown> {
      const child = spawnClaudeCodeProcess({ command: "/bin/sh", args, cwd: home, env });
      child.stdout.resume();
      const signal = await new Promise((resolve) => child.once("exit", (_code, how) => resolve(how)));
      throw new Error(`terminated by ${String(signal)}`);
    },
  });

  test("that closes its output and stays is ended", async () => {
    const script = untilExit(["-c", "exec >&-; exec sleep 4246"]);
    expect((await heard(transportOf(script))).error).toMatchObject({
      code: "died",
      message: expect.stringContaining("terminated by SIGTERM"),
    });
    await untilGone(mark());
  });

  test("that never says a word is ended, and that is said", async () => {
    const script = untilExit(["-c", "echo still thinking >&2; exec sleep 4247"]);
    const { error } = await heard(transportOf(script, [], [], { readyLimitMs: 300 }));
    expect(error).toMatchObject({
      code: "start_failed",
      message: expect.stringMatching(/did not start \(it was not ready after 0\.3 s\).*still thinking/),
    });
    await untilGone(mark());
  });

  test("is not started for a turn that was aborted before", async () => {
    const seen: SdkOptions[] = [];
    abort.abort();
    const script = {
      async *messages() {
        yield RESULT;
      },
    };
    expect(await heard(transportOf(script, seen))).toEqual({ messages: [] });
    expect(seen).toEqual([]);
  });

  test("is ended when the caller leaves the loop", async () => {
    const script = {
      async *messages({ spawnClaudeCodeProcess, env }: SdkOptions): AsyncGenerator<unknown> {
        spawnClaudeCodeProcess({ command: "/bin/sleep", args: ["4245"], cwd: home, env });
        await untilRuns(mark(), "/bin/sleep 4245");
        yield { type: "system" };
        yield { type: "system" };
      },
    };
    for await (const _ of transportOf(script).run(orderOf())) break;
    await untilGone(mark());
  });
});
