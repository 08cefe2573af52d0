// Files that an agent with its own searches must skip.
import { describe, expect, test } from "vitest";
import { listUnreadable } from "../../../src/runtime/external/unreadable.ts";
import type { PermissionRule } from "../../../src/runtime/permissions/types.ts";
import { AGENT, Stage } from "../stage.ts";

function services(rules: PermissionRule[], more: object = {}) {
  const { services: basis } = new Stage();
  const external = {
    executor: "claudecode",
    defaultDecision: "by-category" as const,
    plan: Promise.reject,
    run: Promise.reject,
  };
  return {
    ...basis,
    config: { ...basis.config, permissions: rules },
    provider: { key: "cc", type: "claudecode", model: "sonnet", external },
    host: { env: { HOME: "/nowhere" }, stateDirectory: "/nowhere/state" },
    workspace: { root: "/project" },
    ...more,
  } as Parameters<typeof listUnreadable>[0];
}
const deny = (tool: string, pathGlob: string): PermissionRule => ({
  tool,
  match: { pathGlob },
  decision: "deny",
});

describe("what is denied by path", () => {
  test.each(["*", "claudecode.*", "claudecode.Read", "*.grep"])("to %s is left out", async (tool) => {
    expect(await listUnreadable(services([deny(tool, "private/**")]))).toEqual(["private/**"]);
  });

  test.each(["read_file", "demian.*", "claudecode.Write"])("to %s is not about reading", async (tool) => {
    expect(await listUnreadable(services([deny(tool, "private/**")]))).toEqual([]);
  });

  test("by the agent's own rules, and with alternatives, is left out as well", async () => {
    const agent = { ...AGENT, permissions: [deny("*", "*.{pem,key}")] };
    expect(await listUnreadable(services([], { agent }))).toEqual(["*.pem", "*.key"]);
  });

  test("is no reason to leave out what is allowed or asked, or what is unreadable", async () => {
    const allowed = { ...deny("*", "a/**"), decision: "allow" as const };
    expect(await listUnreadable(services([allowed, deny("*", "{")]))).toEqual([]);
  });
});

describe("private data", () => {
  test("is left out of a workspace that is the home directory", async () => {
    const env = { HOME: "/home/ada", XDG_STATE_HOME: "/home/ada/state[1]" };
    const found = await listUnreadable(
      services([], { host: { env, stateDirectory: "/s" }, workspace: { root: "/home/ada" } }),
    );
    expect(found).toEqual(expect.arrayContaining([".ssh", "state\\[1\\]/demian"]));
  });

  test("is the main conversation for a sub-agent only", async () => {
    const subAgent = { mainAgent: "build", ownFiles: new Set<string>() };
    expect(await listUnreadable(services([], { subAgent }))).toEqual([".demian"]);
    expect(await listUnreadable(services([]))).toEqual([]);
  });
});
