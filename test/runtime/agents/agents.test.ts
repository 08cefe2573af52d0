// The built-in agents, those of the configuration, and the prompt that a session gets.
import { describe, expect, test } from "vitest";
import { BUILTIN_AGENTS } from "../../../src/runtime/agents/builtin.ts";
import { createAgentRegistry, findMainAgent } from "../../../src/runtime/agents/from-config.ts";
import { buildSystemPrompt } from "../../../src/runtime/agents/system-prompt.ts";
import type { RegistrySource } from "../../../src/runtime/agents/types.ts";
import { DemianConfig } from "../../../src/runtime/config/schema.ts";

const toolNames = [
  "read_file",
  "write_file",
  "edit_file",
  "apply_patch",
  "bash",
  "grep",
  "glob",
  "todo",
  "tail_job",
  "kill_job",
];
const CLAUDE_CODE_READS = ["claudecode.Read", "claudecode.Grep", "claudecode.Glob"];
const source: RegistrySource = { scope: "user", path: "/home/u/.demian/config.json", trusted: true };

function registry(agents: Record<string, object>) {
  const complete = Object.entries(agents).map(([name, agent]) => [
    name,
    { description: "d", prompt: { system: "s" }, tools: { visible: ["grep"] }, ...agent },
  ]);
  const config = DemianConfig.parse({
    agents: Object.fromEntries(complete),
    providers: { fast: { type: "openai-compatible" as const, baseURL: "http://localhost" } },
  });
  const sources = new Map(Object.keys(agents).map((name) => [name, source]));
  return createAgentRegistry({ config, sources, toolNames, providerKeys: ["embedded"] });
}

describe("built-in agents", () => {
  test("build sees all tools, reads freely, asks for the rest and never touches secrets", () => {
    const build = BUILTIN_AGENTS.find(({ name }) => name === "build");
    expect(build?.tools.visible).toEqual([...toolNames, "web_fetch", "skill", "mcp__*"]);
    expect(build?.permissions).toContainEqual({ tool: "web_fetch", decision: "ask" });
    const decision = (tool: string) => build?.permissions.find((rule) => rule.tool === tool)?.decision;
    expect(toolNames.map(decision)).toEqual([
      "allow",
      "ask",
      "ask",
      "ask",
      "ask",
      "allow",
      "allow",
      "allow",
      "allow",
      "allow",
    ]);
    const denied = build?.permissions.flatMap((rule) =>
      rule.decision === "deny" ? [rule.match?.pathGlob] : [],
    );
    expect(denied).toEqual(["**/.env", "**/.env.*", "node_modules/**"]);
  });

  test("plan sees tools that read, and denies everything else", () => {
    const plan = BUILTIN_AGENTS.find(({ name }) => name === "plan");
    expect(plan?.tools.visible).toEqual(["read_file", "grep", "glob"]);
    expect(plan?.permissions.at(-1)).toMatchObject({ tool: "*", decision: "deny" });
    expect(plan?.permissions.filter(({ decision }) => decision === "allow").map(({ tool }) => tool)).toEqual([
      ...(plan?.tools.visible ?? []),
      "delegate_agent",
      ...CLAUDE_CODE_READS,
    ]);
  });

  test.each(["explorer", "critic"])("%s works for other agents only, reads, and starts no agents", (name) => {
    const { agents } = registry({});
    expect(agents.get(name)).toMatchObject({
      mode: "subagent",
      tools: { visible: ["read_file", "grep", "glob"] },
      delegation: { canDelegate: false, invocationDecision: "allow" },
    });
    const allowed = agents.get(name).permissions.filter(({ decision }) => decision !== "deny");
    expect(allowed.map(({ tool }) => tool)).toEqual(["read_file", "grep", "glob", ...CLAUDE_CODE_READS]);
    expect(agents.get(name).permissions.at(-1)).toMatchObject({ tool: "*", decision: "deny" });
    expect(agents.listPrimary().map((agent) => agent.name)).toEqual(["build", "plan"]);
    expect(() => findMainAgent(agents, name)).toThrow(/only works for other agents/);
  });

  test("plan delegates only to agents that read: nothing is changed on its behalf", () => {
    const plan = BUILTIN_AGENTS.find(({ name }) => name === "plan");
    const allowed = plan?.delegation?.allowedAgents ?? BUILTIN_AGENTS.map(({ name }) => name);
    for (const agent of BUILTIN_AGENTS.filter(({ name }) => allowed.includes(name)))
      expect(agent.tools.visible).toEqual(["read_file", "grep", "glob"]);
    expect(allowed.length).toBeGreaterThan(0);
  });

  test("the documented agent keeps its name", () => {
    const { agents, warnings } = registry({ reviewer: { mode: "subagent", provider: { profile: "fast" } } });
    expect(warnings).toEqual([]);
    expect(agents.get("reviewer").provider).toEqual({ profile: "fast" });
  });

  test("their prompts speak only of tools that they see", () => {
    for (const agent of BUILTIN_AGENTS) {
      const named = toolNames.filter((tool) => new RegExp(`\\b${tool}\\b`).test(agent.prompt.system));
      expect(agent.tools.visible).toEqual(expect.arrayContaining(named));
    }
  });
});

describe("agents of the configuration", () => {
  test("one that is right is there, with where it comes from", () => {
    const { agents, warnings } = registry({ reviewer: { mode: "all", provider: { profile: "fast" } } });
    expect(warnings).toEqual([]);
    expect(agents.get("reviewer")).toMatchObject({
      name: "reviewer",
      mode: "all",
      provider: { profile: "fast" },
    });
    expect(agents.list().find(({ agent }) => agent.name === "reviewer")?.source).toEqual(source);
  });

  test.each([
    ["build", {}, /"build" is ignored: the name belongs to a built-in agent/],
    ["a", { name: "b" }, /its "name" is "b"; make it "a" or remove it/],
    ["a", { tools: { visible: ["gerp"] } }, /no tool "gerp"; did you mean "grep"\?/],
    ["a", { tools: { visible: ["deploy"] } }, /no tool "deploy"; known: read_file/],
    ["a", { provider: { profile: "fats" } }, /no provider "fats"; did you mean "fast"\?/],
  ])("the agent %s with %j is skipped and reported", (name, agent, pattern) => {
    const { agents, warnings } = registry({ [name]: agent, fine: {} });
    expect(warnings).toEqual([expect.stringMatching(pattern)]);
    expect(warnings[0]).toContain(source.path);
    expect(agents.list().map((entry) => entry.agent.name)).toEqual([
      "build",
      "plan",
      "explorer",
      "critic",
      "fine",
    ]);
    expect(agents.get("build")).toBe(BUILTIN_AGENTS[0]);
  });

  test("a provider of the embedding program may be named, and demian.bash is bash", () => {
    const { agents } = registry({
      a: { provider: { profile: "embedded" }, tools: { visible: ["demian.bash"] } },
    });
    expect(agents.get("a").tools.visible).toEqual(["bash"]);
  });

  test("authority narrows the tools and is checked before the rules", () => {
    const authority = {
      tools: ["grep"],
      permissions: [{ tool: "grep", decision: "ask" }],
      defaultDecision: "deny",
    };
    const { agents } = registry({
      a: { authority, tools: { visible: ["grep", "bash"] }, permissions: [{ tool: "*", decision: "ask" }] },
    });
    expect(agents.get("a")).toMatchObject({
      tools: { visible: ["grep"] },
      permissions: [{ tool: "grep" }, { tool: "*" }],
      defaultDecision: "deny",
    });
    expect(agents.get("a")).not.toHaveProperty("authority");
  });

  test("an empty list of authorised tools leaves none", () => {
    const { agents } = registry({ a: { authority: { tools: [] } } });
    expect(agents.get("a").tools.visible).toEqual([]);
  });

  test("one that works for other agents only cannot talk to the user", () => {
    const { agents } = registry({ helper: { mode: "subagent" } });
    expect(() => findMainAgent(agents, "helper")).toThrow(
      /only works for other agents; choose one of build, plan/,
    );
    expect(findMainAgent(agents, "plan").name).toBe("plan");
    expect(() => findMainAgent(agents, "biuld")).toThrow(/did you mean build/);
  });
});

describe("the system prompt", () => {
  test("is the agent's text, what is appended, and the environment, in that order", () => {
    const { agents } = registry({ a: { prompt: { system: "  First. ", append: "Second." } } });
    expect(buildSystemPrompt(agents.get("a"), { envInfo: "Third." })).toBe("First.\n\nSecond.\n\nThird.");
    expect(buildSystemPrompt(agents.get("a"))).toBe("First.\n\nSecond.");
  });
});
