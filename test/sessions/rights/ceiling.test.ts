// The ceiling for children as a table: (parent, child) × right × backend.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { AcpOptions } from "../../../src/backends/acp/options.ts";
import { readAcpRights } from "../../../src/backends/acp/rights.ts";
import { ClaudeOptions } from "../../../src/backends/claude/options.ts";
import { readClaudeRights } from "../../../src/backends/claude/rights.ts";
import { CodexOptions } from "../../../src/backends/codex/options.ts";
import { readCodexRights } from "../../../src/backends/codex/rights.ts";
import { LEVELS, type SessionRights } from "../../../src/backends/types.ts";
import { findEscalation, type RightsOf } from "../../../src/sessions/rights/ceiling.ts";

const READERS = {
  claude: readClaudeRights,
  codex: readCodexRights,
  demian: (options: AcpOptions) => readAcpRights(options, { isOurs: true }),
  gemini: (options: AcpOptions) => readAcpRights(options),
};
type Name = keyof typeof READERS;
const NAMES = Object.keys(READERS) as Name[];

function rightsOf(backend: Name, given: Record<string, unknown> = {}): RightsOf {
  const { may_answer = false, ...options } = given;
  // As spawned: agents ask unless said otherwise.
  const asking = backend === "claude" ? { approvals: true } : {};
  const read = READERS[backend] as (options: Record<string, unknown>) => SessionRights;
  const all = Object.entries({ cwd: "/w", ...asking, ...options }).filter(([, value]) => value !== undefined);
  const grants = { may_answer: may_answer === true, manager: false, mcp: [] };
  return { ...read(Object.fromEntries(all)), backend, ...grants };
}

const pairs = NAMES.flatMap((parent) => NAMES.map((child) => [parent, child] as const));

/** Only these are known to have a sandbox; agents without one ask by their own judgment. */
const SANDBOXED: readonly Name[] = ["codex", "demian"];

test.each(pairs)(
  "an ordinary %s may start an ordinary %s, unless only itself has a sandbox",
  async (parent, child) => {
    const found = await findEscalation(rightsOf(child), rightsOf(parent));
    if (SANDBOXED.includes(parent) && child === "gemini") expect(found).toMatchObject({ option: "backend" });
    else expect(found).toBeUndefined();
  },
);

const silent = {
  granular: {
    ...{ sandbox_approval: false, rules: true, skill_approval: true },
    ...{ request_permissions: true, mcp_elicitations: true },
  },
};

/** Options that widen a right, by backend, and the option that is named. */
const WIDER: Readonly<Record<Name, readonly [options: Record<string, unknown>, option: string][]>> = {
  claude: [
    [{ approvals: undefined }, "approvals"],
    [{ approvals: false }, "approvals"],
    [{ permission_mode: "acceptEdits" }, "permission_mode"],
    [{ permission_mode: "auto" }, "permission_mode"],
    [{ permission_mode: "bypassPermissions" }, "permission_mode"],
    [{ add_dir: ["/etc"] }, "add_dir"],
    [{ cwd: "/other" }, "cwd"],
    [{ settings: "{}" }, "settings"],
    [{ mcp_config: ["x.json"] }, "mcp_config"],
    [{ plugin_dir: ["p"] }, "plugin_dir"],
    [{ agents: {} }, "agents"],
    [{ setting_sources: "user,project" }, "setting_sources"],
    [{ setting_sources: "" }, "setting_sources"],
    [{ agent: "reviewer" }, "agent"],
    [{ may_answer: true }, "may_answer"],
    [{ an_option_of_tomorrow: true }, "an_option_of_tomorrow"],
  ],
  codex: [
    [{ "approval-policy": "never" }, "approval-policy"],
    [{ sandbox: "danger-full-access" }, "sandbox"],
    [{ sandbox: "danger-full-access", "approval-policy": "never" }, "approval-policy"],
    [{ cwd: "/other" }, "cwd"],
    [{ profile: "wide" }, "profile"],
    [{ config: { notify: ["sh"] } }, "config.notify"],
    [
      { config: { "sandbox_workspace_write.network_access": true } },
      "config.sandbox_workspace_write.network_access",
    ],
    [{ config: { web_search: "live" } }, "config.web_search"],
    [{ config: { shell_environment_policy: { inherit: "all" } } }, "config.shell_environment_policy.inherit"],
    [{ config: { apps: { x: { enabled: true } } } }, "config.apps.x.enabled"],
    [{ config: { log_dir: "/etc" } }, "config.log_dir"],
    [{ config: { features: { shell_tool: true } } }, "config.features.shell_tool"],
    [{ "approval-policy": silent }, "approval-policy"],
    [{ may_answer: true }, "may_answer"],
  ],
  demian: [
    [{ approvals: false }, "approvals"],
    [{ mode: "acceptEdits" }, "mode"],
    [{ mode: "of its own making" }, "mode"],
    [{ cwd: "/other" }, "cwd"],
    [{ mode: "code" }, "mode"],
    [{ config: { sandbox: "off" } }, "config.sandbox"],
    [{ may_answer: true }, "may_answer"],
  ],
  gemini: [
    [{ approvals: false }, "approvals"],
    [{ mode: "yolo" }, "mode"],
    [{ cwd: "/w/../other" }, "cwd"],
    [{ config: { trust: true } }, "config.trust"],
    [{ may_answer: true }, "may_answer"],
  ],
};
const cases = pairs.flatMap(([parent, child]) =>
  WIDER[child].map(([options, option]) => [parent, child, options, option] as const),
);

test.each(cases)("an ordinary %s may not start %s with %j", async (parent, child, options, option) => {
  const found = await findEscalation(rightsOf(child, options), rightsOf(parent));
  const isUnsandboxed = SANDBOXED.includes(parent) && child === "gemini";
  // The first right that is wider is named.
  expect(found).toMatchObject({
    option: isUnsandboxed ? expect.stringMatching(`^(backend|${option})$`) : option,
  });
});

test.each(NAMES.flatMap((name) => WIDER[name].map(([options]) => [name, options] as const)))(
  "a %s that has %j itself may start one like it",
  async (name, options) => {
    expect(await findEscalation(rightsOf(name, options), rightsOf(name, options))).toBeUndefined();
  },
);

/** Options that limit a right, by backend: a child that omits one gets what the user's own configuration allows. */
const NARROWER: Readonly<Record<Name, readonly [options: Record<string, unknown>, option: string][]>> = {
  claude: [
    [{ permission_mode: "plan" }, "permission_mode"],
    [{ permission_mode: "default" }, "permission_mode"],
    [{ permission_mode: "acceptEdits" }, "permission_mode"],
    [{ disallowed_tools: ["WebFetch"] }, "disallowed_tools"],
    [{ tools: "Read" }, "tools"],
    [{ setting_sources: "" }, "setting_sources"],
    [{ settings: '{"permissions":{"deny":["Bash"]}}' }, "settings"],
    [{ settings: '{"permissions":{"defaultMode":"plan"}}' }, "settings"],
    [{ settings: '{"hooks":{}}' }, "settings"],
    [{ settings: "/etc/settings.json" }, "settings"],
    [{ plugin_dir: ["guard"] }, "plugin_dir"],
    [{ agent: "reviewer" }, "agent"],
    [{ strict_mcp_config: true }, "strict_mcp_config"],
  ],
  codex: [
    [{ sandbox: "read-only" }, "sandbox"],
    [{ sandbox: "workspace-write" }, "sandbox"],
    [{ "approval-policy": "untrusted" }, "approval-policy"],
    [{ "approval-policy": "on-request" }, "approval-policy"],
    [{ "approval-policy": "never" }, "approval-policy"],
    [{ "approval-policy": silent }, "approval-policy"],
    [{ collaboration_mode: "plan" }, "collaboration_mode"],
    [{ collaboration_mode: "default" }, "collaboration_mode"],
    [{ profile: "narrow" }, "profile"],
    [{ config: { web_search: "disabled" } }, "config.web_search"],
    [
      { config: { shell_environment_policy: { inherit: "none" } } },
      "config.shell_environment_policy.inherit",
    ],
  ],
  demian: [
    [{ mode: "plan" }, "mode"],
    [{ mode: "default" }, "mode"],
    [{ config: { sandbox: "read-only" } }, "config.sandbox"],
  ],
  gemini: [
    [{ mode: "plan" }, "mode"],
    [{ mode: "ask" }, "mode"],
    [{ config: { sandbox: true } }, "config.sandbox"],
  ],
};

describe.each(NAMES)("a restriction of a %s", (name) => {
  test.each(NARROWER[name])("%j is not dropped", async (options, option) => {
    expect(await findEscalation(rightsOf(name), rightsOf(name, options))).toMatchObject({ option });
    expect(await findEscalation(rightsOf(name, options), rightsOf(name, options))).toBeUndefined();
  });
});

/** Limits without a counterpart elsewhere. */
const OWN = /^(plan|default|on-request|workspace-write|acceptEdits|ask|never)$/;
const crossed = pairs
  .filter(([parent, child]) => parent !== child)
  .flatMap(([parent, child]) => NARROWER[parent].map(([options]) => [parent, options, child] as const))
  // These are levels that an ordinary session of the other kind does not exceed.
  .filter(
    ([, options]) =>
      !Object.entries(options).some(([key, value]) => key !== "config" && OWN.test(String(value))),
  )
  .filter(([, options]) => options["approval-policy"] !== silent);

test.each(crossed)("a %s with %j does not escape through a %s", async (parent, options, child) => {
  expect(await findEscalation(rightsOf(child), rightsOf(parent, options))).toBeDefined();
});

/** A parent with less than usual, and children that would have the usual. */
test.each<[Name, Record<string, unknown>, Name, Record<string, unknown>, string]>([
  ["claude", { permission_mode: "plan" }, "claude", {}, "permission_mode"],
  ["claude", { permission_mode: "plan" }, "codex", {}, "collaboration_mode"],
  ["claude", { permission_mode: "plan" }, "demian", {}, "mode"],
  ["claude", { disallowed_tools: ["WebFetch"] }, "claude", {}, "disallowed_tools"],
  ["claude", { disallowed_tools: ["WebFetch"] }, "codex", {}, "disallowed_tools"],
  ["claude", { tools: "Read" }, "claude", { tools: "Read,Bash" }, "tools"],
  [
    "codex",
    { "approval-policy": "untrusted" },
    "codex",
    { "approval-policy": "on-request" },
    "approval-policy",
  ],
  [
    "codex",
    { sandbox: "danger-full-access", "approval-policy": "untrusted" },
    "claude",
    { approvals: false },
    "approvals",
  ],
  ["codex", { "approval-policy": "untrusted" }, "claude", {}, "approvals"],
  ["codex", { "approval-policy": "untrusted" }, "demian", {}, "approvals"],
  // What happens without approvals differs: refused, done in the sandbox, done.
  ["claude", { approvals: undefined }, "codex", { "approval-policy": "never" }, "approval-policy"],
  ["claude", { approvals: undefined }, "demian", { approvals: false }, "approvals"],
  ["claude", { approvals: undefined }, "gemini", { approvals: false }, "approvals"],
  ["codex", { "approval-policy": "never" }, "gemini", { approvals: false }, "approvals"],
  ["demian", { approvals: false }, "gemini", { approvals: false }, "approvals"],
  ["demian", {}, "gemini", { mode: "plan" }, "backend"],
  ["gemini", { mode: "ask" }, "gemini", { mode: "code" }, "mode"],
  ["claude", { settings: '{"permissions":{"allow":["Read"]}}' }, "claude", { settings: "{}" }, "settings"],
  ["claude", {}, "codex", { sandbox: "danger-full-access", "approval-policy": "on-request" }, "sandbox"],
  ["claude", {}, "codex", { sandbox: "danger-full-access", "approval-policy": "untrusted" }, "sandbox"],
  ["codex", { sandbox: "read-only" }, "codex", {}, "sandbox"],
  ["codex", { sandbox: "read-only" }, "claude", {}, "permission_mode"],
  ["codex", { collaboration_mode: "plan" }, "codex", {}, "collaboration_mode"],
  ["gemini", { mode: "plan" }, "gemini", {}, "mode"],
])("a %s with %j may not start a %s with %j", async (parent, has, child, asks, option) => {
  expect(await findEscalation(rightsOf(child, asks), rightsOf(parent, has))).toMatchObject({ option });
});

test.each<[Name, Record<string, unknown>, Name, Record<string, unknown>]>([
  ["claude", { permission_mode: "plan" }, "claude", { permission_mode: "plan" }],
  ["claude", { disallowed_tools: ["A"] }, "claude", { disallowed_tools: ["B", "A"] }],
  [
    "claude",
    { permission_mode: "bypassPermissions", approvals: undefined },
    "codex",
    { sandbox: "danger-full-access" },
  ],
  ["claude", { permission_mode: "bypassPermissions" }, "claude", { cwd: "/elsewhere" }],
  ["claude", { add_dir: ["/data"] }, "codex", { cwd: "/data/x" }],
  ["codex", {}, "codex", { sandbox: "read-only", "approval-policy": "untrusted" }],
  ["claude", { mcp_config: ["x"], agents: {} }, "claude", {}],
  ["claude", { settings: '{"permissions":{"allow":["Read"]}}' }, "codex", {}],
  ["claude", {}, "claude", { strict_mcp_config: true, permission_mode: "plan" }],
  ["codex", { "approval-policy": "never" }, "claude", { approvals: undefined }],
  ["gemini", { approvals: false }, "gemini", { approvals: false }],
  ["gemini", { mode: "yolo" }, "gemini", {}],
  ["codex", {}, "codex", { config: { model_reasoning_effort: "high" } }],
  ["demian", {}, "demian", { mode: "plan", config: { effort: "high" } }],
])("a %s with %j may start a %s with %j", async (parent, has, child, asks) => {
  expect(await findEscalation(rightsOf(child, asks), rightsOf(parent, has))).toBeUndefined();
});

describe("directories", () => {
  const home = mkdtempSync(join(tmpdir(), "ceiling-"));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const [work, evil] = [join(home, "work"), join(home, "work-evil")];
  for (const path of [work, evil]) mkdirSync(path);
  symlinkSync(evil, join(work, "link"));
  mkdirSync(join(evil, "sub"));
  symlinkSync(join(evil, "sub"), join(work, "into"));

  test.each([
    [work, true],
    [join(work, "new/deeper"), true],
    [evil, false],
    [join(work, "link"), false],
    [join(work, "link/new/deeper"), false],
    [`${work}/into/..`, false],
    [join(work, "../work-evil"), false],
  ])("%s: %s", async (cwd, isAllowed) => {
    const found = await findEscalation(rightsOf("codex", { cwd }), rightsOf("claude", { cwd: work }));
    expect(found === undefined).toBe(isAllowed);
  });

  test("relative ones are those of the session, not of the daemon", async () => {
    const here = relative(work, process.cwd());
    const parent = rightsOf("claude", { cwd: work });
    expect(await findEscalation(rightsOf("claude", { cwd: work, add_dir: ["sub"] }), parent)).toBeUndefined();
    expect(await findEscalation(rightsOf("claude", { cwd: work, add_dir: [here] }), parent)).toMatchObject({
      option: "add_dir",
    });
    const wide = rightsOf("claude", { cwd: work, add_dir: [process.cwd()] });
    expect(await findEscalation(rightsOf("claude", { cwd: work, add_dir: ["src"] }), parent)).toBeUndefined();
    // Below the daemon's directory, and also below the session's own.
    expect(await findEscalation(rightsOf("claude", { cwd: evil, add_dir: ["src"] }), wide)).toMatchObject({
      option: "cwd",
    });
  });
});

test.each(pairs)("may_answer is passed on by a %s to a %s only if it has it", async (parent, child) => {
  // As wide as the widest, so that only this right differs.
  const wide = { ...rightsOf("gemini", { approvals: false, mode: "yolo" }), backend: parent };
  const wished = rightsOf(child, { may_answer: true });
  expect(await findEscalation(wished, wide)).toMatchObject({ option: "may_answer" });
  expect(await findEscalation(wished, { ...wide, may_answer: true })).toBeUndefined();
});

test.each(LEVELS)("%s is a right of its own", async (name) => {
  const base = rightsOf("codex");
  const more = { ...base.levels[name], level: base.levels[name].level + 1, option: "it" };
  const child = { ...base, levels: { ...base.levels, [name]: more } };
  expect(await findEscalation(child, base)).toMatchObject({ option: "it" });
  expect(await findEscalation(base, child)).toBeUndefined();
});

const SAMPLES: Readonly<Record<string, unknown>> = {
  ...{ config: { x: 1 }, disallowed_tools: ["x"], strict_mcp_config: true, approvals: true },
  ...{
    permission_mode: "plan",
    sandbox: "read-only",
    "approval-policy": "never",
    collaboration_mode: "plan",
  },
};

test("the manager's tools and MCP servers are passed on only by a parent that has them", async () => {
  const parent = { ...rightsOf("claude"), mcp: ["docs"] };
  const find = (more: Partial<RightsOf>) => findEscalation({ ...rightsOf("codex"), ...more }, parent);
  expect(await find({ manager: true })).toMatchObject({ option: "manager" });
  expect(await find({ mcp: ["docs", "tracker"] })).toMatchObject({
    option: "mcp",
    why: expect.stringContaining("tracker"),
  });
  expect(await find({ mcp: ["docs"] })).toBeUndefined();
});

/** What is not named here counts as code. */
test("every option of a backend is rated or known to give no rights", () => {
  const harmless = (read: (options: never) => SessionRights, schema: { shape: object }) =>
    Object.keys(schema.shape).filter((name) => {
      const rights = read({ [name]: SAMPLES[name] ?? "x" } as never);
      return JSON.stringify(rights) === JSON.stringify(read({} as never));
    });
  expect(harmless(readClaudeRights, ClaudeOptions)).toEqual([
    ...["model", "system_prompt", "append_system_prompt", "effort", "betas"],
    ...["exclude_dynamic_system_prompt_sections", "max_budget_usd", "max_turns"],
    ...["max_thinking_tokens", "thinking", "json_schema", "fallback_model"],
    ...["session_name", "session_persistence", "include_partial_messages", "user_echo", "include_raw_events"],
    "native_events",
  ]);
  expect(harmless(readCodexRights, CodexOptions)).toEqual([
    ...["model", "base-instructions", "developer-instructions", "compact-prompt"],
    ...["include_raw_events", "user_echo", "effort", "output_schema", "own_process"],
  ]);
  const acp = harmless((options: AcpOptions) => readAcpRights({ approvals: false, ...options }), AcpOptions);
  expect(acp).toEqual(["model", "include_raw_events", "user_echo"]);
});
