// The ceiling for children as a table: (parent, child) × right × backend.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readAcpRights } from "../../../src/backends/acp/rights.ts";
import { readClaudeRights } from "../../../src/backends/claude/rights.ts";
import { readCodexRights } from "../../../src/backends/codex/rights.ts";
import { findEscalation, type RightsOf } from "../../../src/sessions/rights/ceiling.ts";

const READERS = {
  claude: readClaudeRights,
  codex: readCodexRights,
  demian: readAcpRights,
  gemini: readAcpRights,
};
type Name = keyof typeof READERS;
const NAMES = Object.keys(READERS) as Name[];

function rightsOf(backend: Name, options: Record<string, unknown> = {}, may_answer = false): RightsOf {
  // As spawned: agents ask unless said otherwise.
  const asking = backend === "claude" ? { approvals: true } : {};
  const read = READERS[backend] as (options: Record<string, unknown>) => ReturnType<typeof readAcpRights>;
  const all = Object.entries({ cwd: "/w", ...asking, ...options }).filter(([, value]) => value !== undefined);
  return { ...read(Object.fromEntries(all)), backend, may_answer };
}

const pairs = NAMES.flatMap((parent) => NAMES.map((child) => [parent, child] as const));

test.each(pairs)("an ordinary %s may start an ordinary %s", (parent, child) => {
  expect(findEscalation(rightsOf(child), rightsOf(parent))).toBeUndefined();
});

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
  ],
  demian: [
    [{ approvals: false }, "approvals"],
    [{ mode: "acceptEdits" }, "mode"],
    [{ mode: "of its own making" }, "mode"],
    [{ cwd: "/other" }, "cwd"],
    [{ config: { sandbox: "off" } }, "config.sandbox"],
  ],
  gemini: [
    [{ approvals: false }, "approvals"],
    [{ mode: "yolo" }, "mode"],
    [{ cwd: "/w/../other" }, "cwd"],
    [{ config: { trust: true } }, "config.trust"],
  ],
};
const cases = pairs.flatMap(([parent, child]) =>
  WIDER[child].map(([options, option]) => [parent, child, options, option] as const),
);

test.each(cases)("an ordinary %s may not start %s with %j", (parent, child, options, option) => {
  expect(findEscalation(rightsOf(child, options), rightsOf(parent))).toMatchObject({ option });
});

test.each(NAMES.flatMap((name) => WIDER[name].map(([options]) => [name, options] as const)))(
  "a %s that has %j itself may start one like it",
  (name, options) => {
    expect(findEscalation(rightsOf(name, options), rightsOf(name, options))).toBeUndefined();
  },
);

/** A parent with less than usual, and children that would have the usual. */
test.each<[Name, Record<string, unknown>, Name, Record<string, unknown>, string]>([
  ["claude", { permission_mode: "plan" }, "claude", {}, "permission_mode"],
  ["claude", { permission_mode: "plan" }, "codex", {}, "collaboration_mode"],
  ["claude", { permission_mode: "plan" }, "demian", {}, "mode"],
  ["claude", { disallowed_tools: ["WebFetch"] }, "claude", {}, "disallowed_tools"],
  ["claude", { disallowed_tools: ["WebFetch"] }, "codex", {}, "disallowed_tools"],
  ["claude", { tools: "Read" }, "claude", { tools: "Read,Bash" }, "disallowed_tools"],
  ["codex", { sandbox: "read-only" }, "codex", {}, "sandbox"],
  ["codex", { sandbox: "read-only" }, "claude", {}, "permission_mode"],
  ["codex", { collaboration_mode: "plan" }, "codex", {}, "collaboration_mode"],
  ["gemini", { mode: "plan" }, "gemini", {}, "mode"],
])("a %s with %j may not start a %s with %j", (parent, has, child, asks, option) => {
  expect(findEscalation(rightsOf(child, asks), rightsOf(parent, has))).toMatchObject({ option });
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
  ["codex", {}, "codex", { config: { model_reasoning_effort: "high" } }],
  ["demian", {}, "demian", { mode: "plan", config: { effort: "high" } }],
])("a %s with %j may start a %s with %j", (parent, has, child, asks) => {
  expect(findEscalation(rightsOf(child, asks), rightsOf(parent, has))).toBeUndefined();
});

describe("directories", () => {
  const home = mkdtempSync(join(tmpdir(), "ceiling-"));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const [work, evil] = [join(home, "work"), join(home, "work-evil")];
  for (const path of [work, evil]) mkdirSync(path);
  symlinkSync(evil, join(work, "link"));

  test.each([
    [work, true],
    [join(work, "new/deeper"), true],
    [evil, false],
    [join(work, "link"), false],
    [join(work, "../work-evil"), false],
  ])("%s: %s", (cwd, isAllowed) => {
    const found = findEscalation(rightsOf("codex", { cwd }), rightsOf("claude", { cwd: work }));
    expect(found === undefined).toBe(isAllowed);
  });
});

test("may_answer is passed on only by a parent that has it", () => {
  expect(findEscalation(rightsOf("codex", {}, true), rightsOf("claude"))).toMatchObject({
    option: "may_answer",
  });
  expect(findEscalation(rightsOf("codex", {}, true), rightsOf("claude", {}, true))).toBeUndefined();
});
