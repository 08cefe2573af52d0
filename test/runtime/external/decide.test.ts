// May another agent use its tool? The real gate over the real workspace.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isHarmless, prepareClaudeTool } from "../../../src/runtime/external/claude-code/tools.ts";
import { decideExternal, type ExternalServices } from "../../../src/runtime/external/decide.ts";
import type { ExternalDefault, ExternalRuntime } from "../../../src/runtime/external/types.ts";
import { createPermissionGate } from "../../../src/runtime/permissions/gate.ts";
import type { GrantStore } from "../../../src/runtime/permissions/grants.ts";
import type {
  PermissionAnswer,
  PermissionPrompt,
  PermissionRule,
} from "../../../src/runtime/permissions/types.ts";
import { openWorkspace } from "../../../src/runtime/workspace/open.ts";
import type { Workspace } from "../../../src/runtime/workspace/types.ts";
import { AGENT, Stage, type StageOptions } from "../stage.ts";

let root: string;
let workspace: Workspace;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "demian-decide-")));
  writeFileSync(join(root, "a.txt"), "one\n");
  writeFileSync(join(root, ".env"), "SECRET=1\n");
  workspace = await openWorkspace(root);
});

afterEach(async () => {
  await workspace.close();
  rmSync(root, { recursive: true, force: true });
});

interface Options extends StageOptions {
  rules?: PermissionRule[];
  agentRules?: PermissionRule[];
  fallback?: ExternalDefault;
  agentDefault?: "allow" | "ask" | "deny";
  answer?: PermissionAnswer;
  agentPath?: string[];
}

function stage(options: Options = {}) {
  const { rules = [], agentRules = [], fallback = "by-category", answer = { decision: "allow" } } = options;
  const prompts: PermissionPrompt[] = [];
  const basis = new Stage(options);
  const gate = createPermissionGate({
    globalRules: rules,
    grants: {
      list: () => Promise.resolve([]),
      add: () => Promise.resolve(),
      span: "for now",
    } as unknown as GrantStore,
    ask: (prompt) => {
      prompts.push(prompt);
      return Promise.resolve(answer);
    },
    writable: [root],
    path: "/usr/bin",
  });
  const external: ExternalRuntime = {
    executor: "claudecode",
    defaultDecision: fallback,
    run: () => Promise.reject(new Error("nobody runs it here")),
    plan: async (call, where) => {
      const { category, ...plan } = await prepareClaudeTool(call, where);
      return { ...plan, isHarmless: isHarmless(category) };
    },
  };
  const { agentDefault } = options;
  const services: ExternalServices = {
    ...basis.services,
    gate,
    workspace,
    provider: { key: "claudecode", type: "claudecode", model: "sonnet", external },
    agent: {
      ...AGENT,
      permissions: agentRules,
      ...(agentDefault === undefined ? {} : { defaultDecision: agentDefault }),
    },
    invocation: options.agentPath === undefined ? {} : { agentPath: options.agentPath },
  };
  const decide = (tool: string, input: Record<string, unknown>, more: { agentPath?: string[] } = {}) =>
    decideExternal(services, { callId: "toolu_1", tool, input, ...more }, basis.abort.signal);
  return { decide, prompts, basis };
}

describe("by category", () => {
  test.each([
    ["Read", { file_path: "a.txt" }],
    ["Grep", { pattern: "x" }],
    ["Glob", { pattern: "*" }],
    ["TodoWrite", { todos: [] }],
  ])("%s is allowed without a question", async (tool, input) => {
    const { decide, prompts } = stage();
    expect(await decide(tool, input)).toMatchObject({ allowed: true });
    expect(prompts).toEqual([]);
  });

  test.each([
    ["Write", { file_path: "a.txt", content: "x" }],
    ["Bash", { command: "ls" }],
    ["WebFetch", { url: "http://127.0.0.1/" }],
    ["SomethingNew", {}],
  ])("%s is asked for", async (tool, input) => {
    const { decide, prompts } = stage();
    expect(await decide(tool, input)).toMatchObject({ allowed: true });
    expect(prompts).toMatchObject([{ tool, executor: "claudecode" }]);
  });

  test.each([
    ["allow", "allow"],
    ["deny", "deny"],
  ] as const)("is not asked where the provider's default is %s", async (fallback, decision) => {
    const { decide, prompts } = stage({ fallback });
    expect(await decide("Bash", { command: "ls" })).toMatchObject({ allowed: decision === "allow" });
    expect(prompts).toEqual([]);
  });

  test("counts where the agent is not stricter", async () => {
    expect(await stage({ agentDefault: "deny" }).decide("Read", { file_path: "a.txt" })).toMatchObject({
      allowed: false,
    });
    const { decide, prompts } = stage({ agentDefault: "allow" });
    await decide("Bash", { command: "ls" });
    expect(prompts).toHaveLength(1);
  });
});

describe("rules", () => {
  test("of the user about claudecode.Bash hold, those about bash do not", async () => {
    const deny = (tool: string): PermissionRule => ({ tool, decision: "deny", reason: "no" });
    expect(await stage({ rules: [deny("claudecode.Bash")] }).decide("Bash", { command: "ls" })).toMatchObject(
      {
        allowed: false,
        reason: expect.stringMatching(/no/),
      },
    );
    expect(await stage({ rules: [deny("bash")] }).decide("Bash", { command: "ls" })).toMatchObject({
      allowed: true,
    });
  });

  test("never open what is closed to all agents", async () => {
    const rules: PermissionRule[] = [{ tool: "*", decision: "allow" }];
    const { decide, prompts } = stage({ rules, fallback: "allow" });
    for (const [tool, input] of [
      ["Read", { file_path: ".env" }],
      ["Read", { file_path: "/etc/hostname" }],
      ["Write", { file_path: ".git/config", content: "x" }],
      ["Bash", { command: "cat .env" }],
      ["Glob", { pattern: "/etc/*" }],
    ] as const) {
      expect(await decide(tool, input)).toMatchObject({ allowed: false });
    }
    expect(prompts).toEqual([]);
  });
});

describe("what is shown", () => {
  test("are the same events as for our own tools, with the name that rules have", async () => {
    const { decide, basis } = stage({ answer: { decision: "deny", reason: "later" } });
    expect(await decide("Write", { file_path: "a.txt", content: "x" })).toEqual({
      allowed: false,
      reason: expect.stringMatching(/later/),
    });
    const target = { callId: "toolu_1", targetType: "tool", targetName: "claudecode.Write" };
    expect(basis.events).toMatchObject([
      { type: "permission.requested", ...target, title: "Write: a.txt" },
      { type: "permission.denied", ...target, by: "user", reason: "later" },
    ]);
  });

  test("to the user: the asking agent, down to its own sub-agents", async () => {
    const { decide, prompts } = stage({ agentPath: ["reviewer"] });
    await decide("Bash", { command: "ls" }, { agentPath: ["Explore"] });
    expect(prompts).toMatchObject([{ agentPath: ["reviewer", "Explore"], command: "ls", cwd: root }]);
  });

  test("the user's wish to stop is passed on", async () => {
    const { decide } = stage({ answer: { decision: "deny", stop: true } });
    expect(await decide("Bash", { command: "ls" })).toMatchObject({ allowed: false, stop: true });
  });

  test("a hook may refuse before the user is asked", async () => {
    const { decide, prompts } = stage({
      hooks: ({ event }) => (event === "PermissionRequest" ? { blocked: true, reason: "hooked" } : {}),
    });
    expect(await decide("Bash", { command: "ls" })).toMatchObject({
      allowed: false,
      reason: expect.stringMatching(/hooked/),
    });
    expect(prompts).toEqual([]);
  });

  test("in a dry run nothing is done, and reading is", async () => {
    const { decide } = stage({ dryRun: true });
    expect(await decide("Bash", { command: "ls" })).toMatchObject({
      allowed: false,
      reason: expect.stringMatching(/Dry run/),
    });
    expect(await decide("Read", { file_path: "a.txt" })).toMatchObject({ allowed: true });
  });
});
