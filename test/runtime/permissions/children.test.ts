// Permission prompts for sub-agents: what the user is shown, and what an "always" covers.
import { describe, expect, test } from "vitest";
import type { AgentDefinition } from "../../../src/runtime/agents/types.ts";
import type { GateCall } from "../../../src/runtime/permissions/gate.ts";
import type { PermissionTarget } from "../../../src/runtime/permissions/types.ts";
import type { ResolvedProvider } from "../../../src/runtime/providers/types.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { ALWAYS, bash, edit, never, type Scene, sceneMaker } from "./gate-scene.ts";

const makeScene = sceneMaker(tempDir("children"));
const scene = ({ options, answer }: Scene = {}) =>
  makeScene({ options: { mode: "multi-agent", ...options }, ...(answer === undefined ? {} : { answer }) });

const reviewer: GateCall["agent"] = {
  name: "reviewer",
  permissions: [
    { tool: "grep", decision: "allow" },
    { tool: "*", decision: "deny", reason: "reviewer is read-only" },
  ],
};
const builder: GateCall["agent"] = { name: "builder", permissions: [{ tool: "bash", decision: "ask" }] };
const by = (agent: GateCall["agent"]): Partial<GateCall> => ({
  agent,
  agentPath: [agent.name],
  mainAgent: "build",
});

/** A call of `delegate_agent`. */
function starts(over: { digest?: string; provider?: string } = {}): GateCall {
  const provider = over.provider ?? "fast";
  const agent = { name: "reviewer", description: "d" } as AgentDefinition;
  const target: PermissionTarget = { kind: "agent", agent: "reviewer", provider };
  const digest = over.digest === undefined ? {} : { digest: over.digest };
  const invocation = {
    agent,
    provider: { key: provider, model: "small" } as ResolvedProvider,
    crossesProvider: true,
    handoff: "Look at src/a.ts.",
    receives: ["the current user request"],
    maxTurns: 3,
    decision: "ask" as const,
  };
  return bash("", {
    tool: "delegate_agent",
    input: { agent: "reviewer", task: "t" },
    plan: { title: "delegate_agent: reviewer: t", targets: [{ ...target, ...digest }], invocation },
    agent: { name: "build", permissions: [], defaultDecision: "ask" },
  });
}

describe("23: a sub-agent's call", () => {
  test("is asked at the root, with the path of agents", async () => {
    const { gate, asked } = await scene({ answer: { decision: "allow" } });
    expect(await gate.decide(bash("ls", by(builder)), never)).toEqual({
      allowed: true,
      by: "user",
      always: false,
    });
    expect(asked).toMatchObject([
      { agent: "builder", agentPath: ["builder"], mainAgent: "build", tool: "bash" },
    ]);
    expect(asked[0]).not.toHaveProperty("widens");
  });

  test("of the main agent carries no path", async () => {
    const { gate, asked } = await scene();
    await gate.decide(bash("ls", { agentPath: [], mainAgent: "build" }), never);
    expect(asked[0]).not.toHaveProperty("agentPath");
    expect(asked[0]).not.toHaveProperty("mainAgent");
  });

  test("that its own rules deny is asked, with the reason, and the user may override them", async () => {
    const { gate, asked } = await scene({ answer: { decision: "allow" } });
    expect(await gate.decide(bash("ls", by(reviewer)), never)).toMatchObject({ allowed: true, by: "user" });
    expect(asked[0]).toMatchObject({
      widens: true,
      reason: "the rules of the agent reviewer deny it (reviewer is read-only); allowing it overrides them",
    });
  });

  test("that its own rules deny is not allowed by --yes, which says what to do, and the user is not asked", async () => {
    const { gate, asked } = await scene({ options: { yes: true } });
    const told: string[] = [];
    const onRequest = async (): Promise<undefined> => {
      told.push("asked");
    };
    expect(await gate.decide(bash("ls", { ...by(reviewer), onRequest }), never)).toEqual({
      allowed: false,
      by: "agent_deny",
      reason: expect.stringMatching(/reviewer is read-only.*--yes does not.*run without --yes/),
      always: false,
    });
    const closed = { name: "closed", permissions: [], defaultDecision: "deny" as const };
    expect(await gate.decide(bash("ls", by(closed)), never)).toMatchObject({ by: "agent_deny" });
    expect([...asked, ...told]).toEqual([]);
    expect(await gate.decide(bash("ls", by(builder)), never)).toMatchObject({ allowed: true, by: "yes" });
  });

  test("that its own rules deny is denied without a user, and in single-agent mode without a question", async () => {
    const nobody = await scene({ answer: { decision: "deny", by: "nobody" } });
    expect(await nobody.gate.decide(bash("ls", by(reviewer)), never)).toMatchObject({
      allowed: false,
      by: "nobody",
    });
    const single = await scene({ options: { mode: "single-agent" }, answer: { decision: "allow" } });
    expect(await single.gate.decide(bash("ls", { agent: reviewer }), never)).toMatchObject({
      allowed: false,
      by: "rule",
      reason: "reviewer is read-only",
    });
    expect(single.asked).toEqual([]);
  });
});

describe("24: an always that was given to a sub-agent", () => {
  test("serves the main agent and its siblings", async () => {
    const { gate, asked, store } = await scene({ answer: ALWAYS });
    expect(await gate.decide(bash("ls", by(builder)), never)).toMatchObject({ by: "user", always: true });
    expect(await gate.decide(bash("ls"), never)).toEqual({ allowed: true, by: "grant", always: false });
    expect(await gate.decide(bash("ls", by({ name: "other", permissions: [] })), never)).toMatchObject({
      by: "grant",
    });
    expect(asked).toHaveLength(1);
    expect(await store.list()).toMatchObject([{ scope: "project", key: { kind: "command", argv: ["ls"] } }]);
  });

  test("also where the sub-agent's own rules denied it", async () => {
    const { gate, asked } = await scene({ answer: ALWAYS });
    expect(await gate.decide(edit("src/a.ts", by(reviewer)), never)).toMatchObject({ always: true });
    expect(await gate.decide(edit("src/b.ts", by(reviewer)), never)).toMatchObject({ by: "grant" });
    expect(await gate.decide(edit("src/c.ts"), never)).toMatchObject({ by: "grant" });
    expect(asked).toHaveLength(1);
  });

  test("25: lifts neither a hard nor a global denial", async () => {
    const globalRules = [{ tool: "edit_file", match: { pathGlob: "src/gen/**" }, decision: "deny" as const }];
    const { gate } = await scene({ options: { globalRules }, answer: ALWAYS });
    await gate.decide(edit("src/a.ts", by(builder)), never);
    expect(await gate.decide(edit("src/.env", by(builder)), never)).toMatchObject({ by: "hard_deny" });
    expect(await gate.decide(edit("src/gen/a.ts", by(builder)), never)).toMatchObject({ by: "global_deny" });
  });
});

describe("30: starting an agent", () => {
  test("is asked with the text, its recipient, and whether that is another provider", async () => {
    const { gate, asked } = await scene();
    expect(await gate.decide(starts(), never)).toMatchObject({ allowed: false, by: "user" });
    expect(asked).toMatchObject([
      {
        invocation: {
          agent: "reviewer",
          provider: "fast",
          model: "small",
          crossesProvider: true,
          receives: ["the current user request"],
          handoff: "Look at src/a.ts.",
        },
        always: "starting the agent reviewer with the provider fast, for 1 h in this project",
      },
    ]);
  });

  test("always is for the agent with that provider, and starts it only: its calls are asked as ever", async () => {
    const { gate, asked, store } = await scene({ answer: ALWAYS });
    expect(await gate.decide(starts(), never)).toMatchObject({ always: true });
    expect(await gate.decide(starts(), never)).toMatchObject({ by: "grant" });
    expect(await gate.decide(starts({ provider: "other" }), never)).toMatchObject({ by: "user" });
    await gate.decide(bash("ls", by(reviewer)), never);
    expect(asked).toHaveLength(3);
    expect((await store.list())[0]?.key).toEqual({ kind: "agent", agent: "reviewer", provider: "fast" });
  });

  test("always for an agent of the project ends with its definition", async () => {
    const { gate, asked } = await scene({ answer: ALWAYS });
    await gate.decide(starts({ digest: "aa" }), never);
    expect(asked[0]?.always).toContain("until its definition in the project changes");
    expect(await gate.decide(starts({ digest: "aa" }), never)).toMatchObject({ by: "grant" });
    expect(await gate.decide(starts({ digest: "bb" }), never)).toMatchObject({ by: "user" });
    expect(await gate.decide(starts(), never)).toMatchObject({ by: "user" });
  });
});

describe("searches", () => {
  const agent: GateCall["agent"] = {
    name: "a",
    permissions: [
      { tool: "*", match: { pathGlob: "gen/**" }, decision: "deny" },
      { tool: "grep", decision: "allow" },
    ],
  };

  test.each(["single-agent", "multi-agent"] as const)(
    "what the agent's own rule denies stays hidden: %s",
    async (mode) => {
      const globalRules = [{ tool: "*", match: { pathGlob: "private/**" }, decision: "deny" as const }];
      const { gate } = await scene({ options: { mode, globalRules } });
      const shown = ["a.ts", "gen/a.ts", "private/a", ".env"].filter((path) =>
        gate.mayRead({ tool: "grep", agent }, path),
      );
      expect(shown).toEqual(["a.ts"]);
    },
  );

  test("that the user allowed against the agent's rules find everything except denied files by path", async () => {
    const { gate } = await scene();
    const closed: GateCall["agent"] = {
      name: "closed",
      permissions: [...agent.permissions.slice(0, 1), { tool: "*", decision: "deny" }],
      defaultDecision: "deny",
    };
    expect(gate.mayRead({ tool: "grep", agent: closed }, "a.ts")).toBe(true);
    expect(gate.mayRead({ tool: "grep", agent: closed }, "gen/a.ts")).toBe(false);
    const single = await scene({ options: { mode: "single-agent" } });
    expect(single.gate.mayRead({ tool: "grep", agent: closed }, "a.ts")).toBe(false);
  });
});

describe("26: what demian keeps in the workspace", () => {
  const own = ".demian/tmp/output-own.txt";
  const reads = (path: string, real = path): GateCall => {
    const targets: PermissionTarget[] = [{ kind: "path", access: "read", lexical: path, real }];
    const allowing: GateCall["agent"] = { name: "a", permissions: [{ tool: "*", decision: "allow" }] };
    return bash("", { tool: "read_file", plan: { title: path, targets }, ...by(allowing) });
  };

  test.each([
    [".demian/transcripts/s/session.jsonl"],
    [".demian/tmp/output-other.txt"],
    [".demian"],
    [".Demian/Transcripts/s/session.jsonl"],
    [".demi\u200can/tmp/output-other.txt"],
    ["link.txt", ".demian/tmp/output-other.txt"],
    [own, ".demian/tmp/output-other.txt"],
  ])("a sub-agent reads nothing of it: %j", async (path, real = path) => {
    const { gate } = await scene({ answer: ALWAYS });
    const ownFiles = new Set([own]);
    const verdict = await gate.decide({ ...reads(path, real), ownFiles }, never);
    expect(verdict).toMatchObject({ allowed: false, by: "hard_deny" });
    expect((await gate.decide(reads(path, real), never)).allowed).toBe(true);
  });

  test("but for its own, and for what only sounds like it", async () => {
    const { gate } = await scene();
    for (const path of [own, ".demian-notes/a.txt", "docs/.demian/a.txt", "demian"])
      expect(await gate.decide({ ...reads(path), ownFiles: new Set([own]) }, never)).toMatchObject({
        allowed: true,
      });
  });
});
