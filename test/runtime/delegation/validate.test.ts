// Which agent may delegate to which.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AgentDefinition } from "../../../src/runtime/agents/types.ts";
import { checkDelegation, listCallableFor } from "../../../src/runtime/delegation/validate.ts";
import { ToolError } from "../../../src/runtime/tools/types.ts";
import { agent, caller, registry } from "./agents.ts";

const main = (delegation?: AgentDefinition["delegation"]) =>
  agent("main", { mode: "primary", ...(delegation === undefined ? {} : { delegation }) });
const team = (...more: AgentDefinition[]) =>
  registry(main(), agent("reviewer"), agent("builder", { delegation: { canDelegate: true } }), ...more);

/** The code and the message, or the agent's name. */
function attempt(agents: ReturnType<typeof registry>, path: string[], targetName: string, maxDepth = 1) {
  try {
    return checkDelegation({ caller: caller(agents, ...path), targetName, agents, maxDepth }).name;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { code: error.code, message: error.message };
  }
}

describe("21: hidden, non-callable, self, cycle and depth are refused", () => {
  test("the main agent may delegate to a sub-agent", () => {
    expect(attempt(team(), ["main"], "reviewer")).toBe("reviewer");
  });

  test("an agent that works alone and in both ways: only the second can be called", () => {
    const agents = team(agent("solo", { mode: "primary" }), agent("both", { mode: "all" }));
    expect(attempt(agents, ["main"], "both")).toBe("both");
    expect(attempt(agents, ["main"], "solo")).toEqual({
      code: "agent_not_callable",
      message:
        'The agent "solo" does not accept tasks from other agents. You can delegate to reviewer, builder, both, or do the task yourself.',
    });
  });

  test("one that says that it is not callable is not", () => {
    const agents = team(agent("shut", { delegation: { callable: false } }));
    expect(attempt(agents, ["main"], "shut")).toMatchObject({ code: "agent_not_callable" });
  });

  test("a hidden one is refused, and is not named among those that can be called", () => {
    const agents = team(agent("ghost", { hidden: true }));
    expect(attempt(agents, ["main"], "ghost")).toEqual({
      code: "agent_hidden",
      message: expect.stringMatching(/"ghost" is hidden.*delegate to reviewer, builder, or do/),
    });
    expect(attempt(agents, ["main"], "ghosd")).toEqual({
      code: "unknown_agent",
      message: expect.not.stringMatching(/"ghost"/),
    });
  });

  test("an unknown one is refused with the nearest that can be called", () => {
    expect(attempt(team(), ["main"], "reviewr")).toEqual({
      code: "unknown_agent",
      message: expect.stringMatching(/There is no agent "reviewr"\. Did you mean "reviewer"\?/),
    });
  });

  test("itself is a circle of one", () => {
    const agents = registry(agent("both", { mode: "all" }), agent("reviewer"));
    expect(attempt(agents, ["both"], "both", 5)).toEqual({
      code: "delegation_cycle",
      message: expect.stringMatching(/"both" is yourself.*You can delegate to reviewer/),
    });
  });

  test("an agent that waits for it is a cycle, and the message shows it", () => {
    const agents = team(agent("helper", { mode: "all", delegation: { canDelegate: true } }));
    expect(attempt(agents, ["main", "helper", "builder"], "helper", 9)).toEqual({
      code: "delegation_cycle",
      message: expect.stringContaining("(main -> helper -> builder -> helper)"),
    });
  });

  test.each([
    { path: ["main"], maxDepth: 0, code: "delegation_too_deep" },
    { path: ["main"], maxDepth: 1, code: undefined },
    { path: ["main", "builder"], maxDepth: 1, code: "delegation_too_deep" },
    { path: ["main", "builder"], maxDepth: 2, code: undefined },
  ])("$path with a depth of $maxDepth: $code", ({ path, maxDepth, code }) => {
    const got = attempt(team(), path, "reviewer", maxDepth);
    if (code === undefined) expect(got).toBe("reviewer");
    else expect(got).toMatchObject({ code, message: expect.stringMatching(/do the task yourself\.$/) });
  });

  test("an agent's own depth counts from itself, and holds for those below it", () => {
    const lead = agent("lead", { delegation: { canDelegate: true, maxDepth: 1 } });
    const agents = team(lead, agent("worker", { delegation: { canDelegate: true } }));
    expect(attempt(agents, ["main", "lead"], "worker", 9)).toBe("worker");
    expect(attempt(agents, ["main", "lead", "worker"], "reviewer", 9)).toEqual({
      code: "delegation_too_deep",
      message: expect.stringMatching(/own maxDepth allows no more/),
    });
    const none = registry(main({ maxDepth: 0 }), agent("reviewer"));
    expect(attempt(none, ["main"], "reviewer", 9)).toMatchObject({ code: "delegation_too_deep" });
  });

  test("a sub-agent may delegate only when it says so, the main agent unless it says not", () => {
    expect(attempt(team(), ["main", "reviewer"], "builder", 5)).toEqual({
      code: "delegation_not_allowed",
      message: expect.stringMatching(/"reviewer" may not delegate\. There is no agent to delegate to/),
    });
    const closed = registry(main({ canDelegate: false }), agent("reviewer"));
    expect(attempt(closed, ["main"], "reviewer")).toMatchObject({ code: "delegation_not_allowed" });
  });

  test("a list of allowed agents is exhaustive, an empty one allows none, and a denied one is excluded", () => {
    const with_ = (delegation: AgentDefinition["delegation"]) =>
      registry(main(delegation), agent("reviewer"), agent("builder"));
    const only = with_({ allowedAgents: ["builder"] });
    expect(attempt(only, ["main"], "builder")).toBe("builder");
    expect(attempt(only, ["main"], "reviewer")).toMatchObject({ code: "delegation_not_allowed" });
    expect(attempt(with_({ allowedAgents: [] }), ["main"], "builder")).toMatchObject({
      code: "delegation_not_allowed",
    });
    const denied = with_({ allowedAgents: ["builder", "reviewer"], deniedAgents: ["builder"] });
    expect(attempt(denied, ["main"], "builder")).toMatchObject({ code: "delegation_not_allowed" });
  });

  test("whether one may delegate at all", () => {
    const others = registry(agent("x"), agent("y"), agent("z"));
    const may = (delegation: NonNullable<AgentDefinition["delegation"]>, depth: number, maxDepth: number) => {
      const path = [...["x", "y"].slice(0, depth), "a"];
      return listCallableFor({ agent: agent("a", { delegation }), path }, others, maxDepth).length > 0;
    };
    expect(may({}, 0, 1)).toBe(true);
    expect(may({}, 1, 5)).toBe(false);
    expect(may({ canDelegate: true }, 1, 2)).toBe(true);
    expect(may({ canDelegate: true }, 2, 2)).toBe(false);
    expect(may({ maxDepth: 0 }, 0, 2)).toBe(false);
  });

  test("an agent is offered exactly when it is not refused, for any caller", () => {
    const names = ["a", "b", "c", "d", "e"];
    const some = fc.option(fc.subarray(names), { nil: undefined });
    const flag = fc.option(fc.boolean(), { nil: undefined });
    const delegation = fc.record({
      callable: flag,
      canDelegate: flag,
      allowedAgents: some,
      deniedAgents: some,
      maxDepth: fc.option(fc.nat(3), { nil: undefined }),
    });
    const mode = fc.constantFrom("primary" as const, "subagent" as const, "all" as const);
    const made = fc.record({ mode, hidden: fc.boolean(), delegation });
    const paths = fc.shuffledSubarray(names, { minLength: 1 });
    fc.assert(
      fc.property(fc.tuple(made, made, made, made, made), paths, fc.nat(4), (all, path, maxDepth) => {
        const given = all.map((one, n) => agent(names[n] ?? "", one as Partial<AgentDefinition>));
        const agents = registry(...given);
        const offered = listCallableFor(caller(agents, ...path), agents, maxDepth).map(({ name }) => name);
        const taken = names.filter((name) => attempt(agents, path, name, maxDepth) === name);
        expect(offered).toEqual(taken);
        expect(offered.filter((name) => path.includes(name))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });
});
