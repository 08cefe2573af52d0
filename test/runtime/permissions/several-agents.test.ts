// Precedence in multi-agent mode, which leaves single-agent mode unchanged.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evaluate } from "../../../src/runtime/permissions/evaluate.ts";
import { toGrantKey } from "../../../src/runtime/permissions/grant-key.ts";
import type {
  Decision,
  PermissionRule,
  PermissionTarget,
  Policy,
  Verdict,
} from "../../../src/runtime/permissions/types.ts";
import { command, grantFor, policy } from "./policies.ts";

const path = (lexical: string, real = lexical): PermissionTarget => ({
  kind: "path",
  access: "write",
  lexical,
  real,
});
const agent: PermissionTarget = { kind: "agent", agent: "reviewer", provider: "fast" };
const decide = (tool: string, targets: PermissionTarget | PermissionTarget[], over: Partial<Policy> = {}) =>
  evaluate({ tool, targets: [targets].flat() }, policy({ mode: "multi-agent", ...over }));
const READ_ONLY: PermissionRule[] = [
  { tool: "read_file", decision: "allow" },
  { tool: "*", decision: "deny", reason: "reviewer is read-only" },
];
const ASKED = { decision: "ask", by: "agent_deny", reason: "reviewer is read-only" };

describe("with several agents", () => {
  test("what the agent's own rules deny is a request to the user", () => {
    expect(decide("bash", command("ls"), { agentRules: READ_ONLY })).toEqual(ASKED);
    expect(decide("read_file", path("a"), { agentRules: READ_ONLY })).toMatchObject({ decision: "allow" });
    const glob: PermissionRule = { tool: "*", match: { pathGlob: "gen/**" }, decision: "deny" };
    const agentRules = [glob, { tool: "edit_file", decision: "allow" as const }];
    expect(decide("edit_file", path("gen/a"), { agentRules })).toEqual({ decision: "ask", by: "agent_deny" });
    expect(decide("edit_file", path("a"), { agentRules })).toMatchObject({ decision: "allow" });
  });

  test("a default of deny is one, too, where no rule fits", () => {
    const over = { agentDefault: "deny", toolDefault: "allow" } as const;
    expect(decide("x", path("a"), over)).toEqual({ decision: "ask", by: "agent_deny" });
    expect(decide("x", path("a"), { ...over, globalRules: [{ tool: "x", decision: "allow" }] })).toEqual({
      decision: "allow",
      by: "rule",
    });
  });

  test("a rule of the user that allows does not answer that question", () => {
    const globalRules: PermissionRule[] = [{ tool: "bash", decision: "allow" }];
    expect(decide("bash", command("ls"), { agentRules: READ_ONLY, globalRules })).toEqual(ASKED);
  });

  test("a grant of the root does", () => {
    const over = { agentRules: READ_ONLY, grants: [grantFor("bash", command("ls"))] };
    expect(decide("bash", command("ls"), over)).toEqual({ decision: "allow", by: "grant" });
    expect(decide("bash", command("ls -l"), over)).toEqual(ASKED);
  });

  test("denials that are not the agent's stay denials", () => {
    expect(decide("x", path("a"), { toolDefault: "deny" })).toEqual({ decision: "deny", by: "default" });
    expect(decide("x", path("a"), { rootDefault: "deny" })).toEqual({ decision: "deny", by: "default" });
  });

  test("of several targets, the one only the user can allow counts, whatever the order", () => {
    const agentRules: PermissionRule[] = [
      { tool: "edit_file", match: { pathGlob: "gen/**" }, decision: "deny" },
      { tool: "edit_file", decision: "ask" },
    ];
    for (const targets of [
      [path("a"), path("gen/a")],
      [path("gen/a"), path("a")],
    ])
      expect(decide("edit_file", targets, { agentRules })).toMatchObject({ by: "agent_deny" });
  });

  test("a grant for an agent is for its name, its provider and its definition", () => {
    const digested = { ...agent, digest: "aa" };
    const grants = [grantFor("delegate_agent", agent)];
    expect(decide("delegate_agent", agent, { grants })).toMatchObject({ by: "grant" });
    expect(decide("delegate_agent", { ...agent, provider: "other" }, { grants })).toMatchObject({
      decision: "ask",
    });
    expect(decide("delegate_agent", digested, { grants })).toMatchObject({ decision: "ask" });
    const given = [grantFor("delegate_agent", digested)];
    expect(decide("delegate_agent", digested, { grants: given })).toMatchObject({ by: "grant" });
    expect(decide("delegate_agent", { ...agent, digest: "bb" }, { grants: given })).toMatchObject({
      decision: "ask",
    });
    expect(decide("delegate_agent", agent, { grants: given })).toMatchObject({ decision: "ask" });
  });
});

const names = fc.constantFrom("bash", "edit_file", "delegate_agent");
const decision = fc.constantFrom<Decision>("allow", "ask", "deny");
const rule: fc.Arbitrary<PermissionRule> = fc.record({
  tool: fc.oneof(names, fc.constantFrom("*", "demian.*", "demian.bash", "*.edit_file")),
  match: fc.constantFrom(
    {},
    { pathGlob: "src/**" },
    { pathGlob: "**" },
    { commandPrefix: "git" },
    { commandPrefix: "git push" },
  ),
  decision,
});
const target = fc.constantFrom(
  path("src/a"),
  path("docs/a", "src/a"),
  path(".env"),
  path("../x"),
  path("b"),
  command("git push"),
  command("ls"),
  agent,
  { kind: "other", key: "k" } as PermissionTarget,
);
const somePolicy = fc.record(
  {
    globalRules: fc.array(rule, { maxLength: 4 }),
    agentRules: fc.array(rule, { maxLength: 5 }),
    grants: fc.array(
      fc.tuple(names, target).map(([tool, one]) => grantFor(tool, one)),
      { maxLength: 6 },
    ),
    agentDefault: decision,
    toolDefault: decision,
    rootDefault: decision,
  },
  { requiredKeys: ["globalRules", "agentRules", "grants"] },
);
const targets = fc.array(target, { maxLength: 3 });

describe("25: hard and global denials", () => {
  test("are never lifted by grants, rules or defaults, with one agent or several", () => {
    fc.assert(
      fc.property(
        names,
        targets,
        somePolicy,
        fc.constantFrom("single-agent" as const, "multi-agent" as const),
        (tool, touched, given, mode) => {
          const denials = given.globalRules.filter((one) => one.decision === "deny");
          const alone = evaluate({ tool, targets: touched }, policy({ mode, globalRules: denials }));
          fc.pre(alone.decision === "deny");
          expect(evaluate({ tool, targets: touched }, policy({ ...given, mode })).decision).toBe("deny");
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("with several agents only they and the defaults of tools and root are denials", () => {
    fc.assert(
      fc.property(names, targets, somePolicy, (tool, touched, given) => {
        const verdict = evaluate({ tool, targets: touched }, policy({ ...given, mode: "multi-agent" }));
        if (verdict.decision === "deny")
          expect(["hard_deny", "global_deny", "default"]).toContain(verdict.by);
      }),
      { numRuns: 500 },
    );
  });
});

describe("17: a single agent", () => {
  test("is judged by the same order as before: hard, global, own denials, grants, the closest rule, defaults", () => {
    fc.assert(
      fc.property(
        names,
        targets,
        somePolicy,
        fc.constantFrom({}, { mode: "single-agent" as const }),
        (tool, touched, given, mode) => {
          expect(evaluate({ tool, targets: touched }, policy({ ...given, ...mode })).decision).toBe(
            expected(tool, touched, given),
          );
        },
      ),
      { numRuns: 3000 },
    );
  });
});

/** The precedence again, as plainly as possible for the rules and targets above. */
function expected(tool: string, touched: readonly PermissionTarget[], given: Partial<Policy>): Decision {
  const all = touched.length === 0 ? [undefined] : touched;
  const decisions = all.map((one) => expectedOne(tool, one, given));
  return (["deny", "ask", "allow"] as const).find((word) => decisions.includes(word)) ?? "ask";
}

function expectedOne(tool: string, one: PermissionTarget | undefined, given: Partial<Policy>): Decision {
  const { globalRules = [], agentRules = [], grants = [] } = given;
  const isWild = ({ tool: name }: PermissionRule) => name === "*" || name === "demian.*";
  const hasMatch = ({ match }: PermissionRule) => Object.keys(match ?? {}).length > 0;
  const fits = (it: PermissionRule): boolean =>
    (isWild(it) || it.tool.replace(/^(demian|\*)\./, "") === tool) && fitsTarget(it, one);
  if (one?.kind === "path" && [".env", "../x"].includes(one.lexical)) return "deny";
  if (globalRules.some((it) => it.decision === "deny" && fits(it))) return "deny";
  const isNamed = agentRules.some(
    (it) => it.decision !== "deny" && fits(it) && (!isWild(it) || hasMatch(it)),
  );
  const floor = (it: PermissionRule) => isWild(it) && !hasMatch(it) && isNamed;
  if (agentRules.some((it) => it.decision === "deny" && fits(it) && !floor(it))) return "deny";
  const key = one === undefined ? undefined : JSON.stringify(toGrantKey(tool, one));
  if (key !== undefined && grants.some((grant) => JSON.stringify(grant.key) === key)) return "allow";
  const weight = (it: PermissionRule): number[] => {
    const length = (it.match?.pathGlob ?? it.match?.commandPrefix ?? "").length;
    return [Number(hasMatch(it)), length, Number(!isWild(it))];
  };
  const open = [
    ...globalRules.map((it) => ({ it, rank: [...weight(it), 1, Number(it.decision === "ask")] })),
    ...agentRules.map((it) => ({ it, rank: [...weight(it), 0, Number(it.decision === "ask")] })),
  ].filter(({ it }) => it.decision !== "deny" && fits(it));
  const [best] = open.sort((a, b) => compare(b.rank, a.rank));
  return best?.it.decision ?? given.agentDefault ?? given.toolDefault ?? given.rootDefault ?? "ask";
}

function fitsTarget({ match, decision: wanted }: PermissionRule, one: PermissionTarget | undefined): boolean {
  if (match?.pathGlob !== undefined) {
    if (one?.kind !== "path") return false;
    const isIn = (name: string) => match.pathGlob === "**" || name.startsWith("src/");
    return wanted === "allow" ? isIn(one.lexical) && isIn(one.real) : isIn(one.lexical) || isIn(one.real);
  }
  if (match?.commandPrefix === undefined) return true;
  // "git" allows "git push" only where the rule names the command of git.
  if (one?.kind !== "command" || one.command !== "git push") return false;
  return match.commandPrefix === "git push" || wanted !== "allow";
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

test("a verdict says what decided it", () => {
  const verdicts: Verdict[] = [
    decide("x", path(".env")),
    decide("x", path("a"), { globalRules: [{ tool: "x", decision: "deny" }] }),
    decide("x", path("a"), { agentRules: [{ tool: "x", decision: "deny" }] }),
    decide("x", path("a"), { agentRules: [{ tool: "x", decision: "ask" }] }),
    decide("x", path("a"), { agentDefault: "allow" }),
  ];
  expect(verdicts.map(({ by }) => by)).toEqual([
    "hard_deny",
    "global_deny",
    "agent_deny",
    "rule",
    "agent_default",
  ]);
});
