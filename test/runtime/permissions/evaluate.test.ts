import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evaluate } from "../../../src/runtime/permissions/evaluate.ts";
import type { PermissionRule, PermissionTarget, Policy } from "../../../src/runtime/permissions/types.ts";
import { command, grantFor, policy } from "./policies.ts";

const path = (
  lexical: string,
  over: { real?: string; access?: "read" | "write" } = {},
): PermissionTarget => ({
  kind: "path",
  access: over.access ?? "write",
  lexical,
  real: over.real ?? lexical,
});
const decide = (tool: string, target: PermissionTarget | PermissionTarget[], over: Partial<Policy> = {}) =>
  evaluate({ tool, targets: [target].flat() }, policy(over));
const EVERYTHING: PermissionRule = { tool: "*", decision: "allow" };

describe("the order", () => {
  test.each([
    ["an environment file is written", path(".env")],
    ["an environment file is read", path("app/.env.local", { access: "read" })],
    ["a link leads to an environment file", path("notes.txt", { real: ".env", access: "read" })],
    ["a link is named like an environment file", path(".env", { real: "notes.txt" })],
    [".git is written", path(".git/config")],
    [".demian is written", path(".demian/config.json")],
    ["node_modules is written", path("a/node_modules/x/index.js")],
    ["the path leads outside", path("../other")],
    ["a link leads outside", path("a", { real: "/etc/passwd" })],
  ])("1: nothing allows it when %s", (_name, target) => {
    const over = {
      globalRules: [EVERYTHING],
      agentRules: [EVERYTHING],
      grants: [grantFor("edit_file", target)],
    };
    expect(decide("edit_file", target, over)).toMatchObject({ decision: "deny", by: "hard_deny" });
  });

  test("1: .git and node_modules may be read", () => {
    expect(
      decide("read_file", path("node_modules/x/a.js", { access: "read" }), { globalRules: [EVERYTHING] }),
    ).toMatchObject({
      decision: "allow",
    });
  });

  test("2: the user's denial beats a grant and every allow rule", () => {
    const target = command("git push");
    const globalRules: PermissionRule[] = [
      { tool: "bash", match: { commandPrefix: "git push" }, decision: "deny", reason: "not from here" },
      { tool: "bash", match: { commandPrefix: "git push origin" }, decision: "allow" },
    ];
    const over = { globalRules, agentRules: [EVERYTHING], grants: [grantFor("bash", target)] };
    expect(decide("bash", target, over)).toEqual({
      decision: "deny",
      by: "global_deny",
      reason: "not from here",
    });
  });

  test("2: denials of the other file tools hold for a patch too; what is allowed to them is not", () => {
    const target = { kind: "path", access: "write", lexical: "gen/a.ts", real: "gen/a.ts" } as const;
    const match = { pathGlob: "gen/**" };
    for (const tool of ["edit_file", "write_file"]) {
      const globalRules = [{ tool, match, decision: "deny" as const }];
      expect(decide("apply_patch", target, { globalRules })).toMatchObject({ by: "global_deny" });
      const agentRules = [{ tool, decision: "deny" as const }];
      expect(decide("apply_patch", target, { agentRules })).toMatchObject({ decision: "deny", by: "rule" });
      const allowing = [{ tool, decision: "allow" as const }];
      expect(decide("apply_patch", target, { agentRules: allowing })).toMatchObject({ decision: "ask" });
    }
  });

  test("2: the agent's denial of a tool beats a grant, too", () => {
    const target = command("ls");
    const over = {
      agentRules: [{ tool: "bash", decision: "deny" as const }],
      grants: [grantFor("bash", target)],
    };
    expect(decide("bash", target, over)).toEqual({ decision: "deny", by: "rule" });
  });

  test("2: an agent's denial of everything leaves what the agent names itself, and no grant lifts it", () => {
    const agentRules: PermissionRule[] = [
      { tool: "read_file", decision: "allow" },
      { tool: "*", decision: "deny", reason: "plan agent is read-only" },
    ];
    expect(decide("read_file", path("a", { access: "read" }), { agentRules })).toMatchObject({
      decision: "allow",
    });
    const target = command("ls");
    const over = { agentRules, grants: [grantFor("bash", target)], globalRules: [EVERYTHING] };
    expect(decide("bash", target, over)).toMatchObject({
      decision: "deny",
      reason: "plan agent is read-only",
    });
  });

  test("2: a denial of everything by the user is one", () => {
    const globalRules: PermissionRule[] = [
      { tool: "*", decision: "deny" },
      { tool: "read_file", decision: "allow" },
    ];
    expect(decide("read_file", path("a", { access: "read" }), { globalRules })).toMatchObject({
      by: "global_deny",
    });
  });

  test("3: a grant beats an ask rule, until it expires", () => {
    const target = path("src/a.ts");
    const agentRules: PermissionRule[] = [{ tool: "edit_file", decision: "ask" }];
    const grants = [grantFor("edit_file", target)];
    expect(decide("edit_file", path("src/b.ts"), { agentRules, grants })).toEqual({
      decision: "allow",
      by: "grant",
    });
    expect(decide("edit_file", path("src/b.ts"), { agentRules, grants, nowMs: 1000 })).toMatchObject({
      decision: "ask",
    });
    expect(decide("write_file", path("src/b.ts"), { agentRules, grants })).toMatchObject({ decision: "ask" });
    expect(decide("edit_file", path("src/deep/b.ts"), { agentRules, grants })).toMatchObject({
      decision: "ask",
    });
    expect(decide("edit_file", path("src/b.ts", { real: "lib/b.ts" }), { agentRules, grants })).toMatchObject(
      { decision: "ask" },
    );
  });

  test("4: the closest rule decides: a match before a name before *, the longer match before the shorter", () => {
    const globalRules: PermissionRule[] = [
      { tool: "*", decision: "ask" },
      { tool: "edit_file", decision: "allow" },
      { tool: "*", match: { pathGlob: "src/**" }, decision: "ask" },
      { tool: "*", match: { pathGlob: "src/gen/**" }, decision: "allow" },
    ];
    const over = { globalRules };
    expect(decide("write_file", path("a"), over)).toMatchObject({ decision: "ask", by: "rule" });
    expect(decide("edit_file", path("a"), over)).toMatchObject({ decision: "allow" });
    expect(decide("edit_file", path("src/a"), over)).toMatchObject({ decision: "ask" });
    expect(decide("edit_file", path("src/gen/a"), over)).toMatchObject({ decision: "allow" });
  });

  test("4: of equally close rules the user's own decide, and among those the stricter", () => {
    const allow: PermissionRule = { tool: "edit_file", decision: "allow" };
    const ask: PermissionRule = { tool: "edit_file", decision: "ask" };
    expect(decide("edit_file", path("a"), { globalRules: [allow], agentRules: [ask] })).toMatchObject({
      decision: "allow",
    });
    expect(decide("edit_file", path("a"), { globalRules: [allow, ask] })).toMatchObject({ decision: "ask" });
  });

  test("5 and 6: the agent's default, the tool's, the root's, and then ask", () => {
    const over = { agentDefault: "deny", toolDefault: "allow", rootDefault: "allow" } as const;
    expect(decide("x", path("a"), over)).toEqual({ decision: "deny", by: "agent_default" });
    expect(decide("x", path("a"), { toolDefault: "allow", rootDefault: "deny" })).toEqual({
      decision: "allow",
      by: "default",
    });
    expect(decide("x", path("a"), { rootDefault: "deny" })).toEqual({ decision: "deny", by: "default" });
    expect(decide("x", path("a"))).toEqual({ decision: "ask", by: "default" });
  });
});

describe("targets", () => {
  test("of several the strictest counts", () => {
    const globalRules: PermissionRule[] = [{ tool: "*", match: { pathGlob: "docs/**" }, decision: "allow" }];
    expect(decide("edit_file", [path("docs/a"), path("docs/b")], { globalRules })).toMatchObject({
      decision: "allow",
    });
    expect(decide("edit_file", [path("docs/a"), path("src/b")], { globalRules })).toMatchObject({
      decision: "ask",
    });
    expect(decide("edit_file", [path("docs/a"), path(".env")], { globalRules })).toMatchObject({
      decision: "deny",
    });
  });

  test("a call without targets is not allowed by rules about targets, nor by grants", () => {
    const globalRules: PermissionRule[] = [{ tool: "*", match: { pathGlob: "**" }, decision: "allow" }];
    const grants = [grantFor("x", { kind: "other", key: "" })];
    expect(decide("x", [], { globalRules, grants })).toEqual({ decision: "ask", by: "default" });
    expect(decide("x", [], { globalRules: [{ tool: "x", decision: "allow" }] })).toMatchObject({
      decision: "allow",
    });
  });

  test("to allow, lexical and real path must fit; to deny, one of them", () => {
    const target = path("docs/a", { real: "src/a" });
    const rule = (pathGlob: string, decision: "allow" | "deny"): PermissionRule => ({
      tool: "*",
      match: { pathGlob },
      decision,
    });
    expect(decide("edit_file", target, { globalRules: [rule("docs/**", "allow")] })).toMatchObject({
      decision: "ask",
    });
    expect(decide("edit_file", target, { globalRules: [rule("docs/**", "deny")] })).toMatchObject({
      decision: "deny",
    });
    expect(decide("edit_file", target, { globalRules: [rule("src/**", "deny")] })).toMatchObject({
      decision: "deny",
    });
  });

  test("a glob that cannot be read denies everything and allows nothing", () => {
    const bad = "{".repeat(3);
    const allow: PermissionRule = { tool: "*", match: { pathGlob: bad }, decision: "allow" };
    expect(decide("edit_file", path("a"), { globalRules: [allow] })).toMatchObject({ decision: "ask" });
    expect(decide("edit_file", path("a"), { globalRules: [{ ...allow, decision: "deny" }] })).toMatchObject({
      decision: "deny",
    });
  });

  test("an empty commandPrefix allows nothing and denies everything", () => {
    const allow: PermissionRule = { tool: "bash", match: { commandPrefix: " " }, decision: "allow" };
    expect(decide("bash", command("ls"), { globalRules: [allow] })).toMatchObject({ decision: "ask" });
    expect(decide("bash", command("ls"), { globalRules: [{ ...allow, decision: "deny" }] })).toMatchObject({
      decision: "deny",
    });
  });

  test("a rule about paths says nothing of commands, and the other way round", () => {
    const globalRules: PermissionRule[] = [
      { tool: "*", match: { pathGlob: "**" }, decision: "deny" },
      { tool: "*", match: { commandPrefix: "ls" }, decision: "allow" },
    ];
    expect(decide("bash", command("ls"), { globalRules })).toMatchObject({ decision: "allow" });
  });
});

describe("names of tools", () => {
  test.each(["bash", "demian.bash", "*.bash", "*", "demian.*"])("`%s` is about our bash", (tool) => {
    expect(decide("bash", command("ls"), { globalRules: [{ tool, decision: "deny" }] })).toMatchObject({
      decision: "deny",
    });
  });

  test.each(["claudecode.bash", "claudecode.*", "Bash", "bas", "bash2", "x.bash", ""])(
    "`%s` is not",
    (tool) => {
      expect(decide("bash", command("ls"), { globalRules: [{ tool, decision: "deny" }] })).toMatchObject({
        decision: "ask",
      });
    },
  );
});

describe("properties", () => {
  const names = fc.constantFrom("bash", "edit_file", "write_file", "*");
  const match = fc.constantFrom(
    {},
    { pathGlob: "src/**" },
    { pathGlob: "**" },
    { commandPrefix: "git" },
    { commandPrefix: "git push" },
  );
  const decision = fc.constantFrom("allow" as const, "ask" as const, "deny" as const);
  const rule: fc.Arbitrary<PermissionRule> = fc.record({ tool: names, match, decision });
  const someTarget = fc.constantFrom(
    path("src/a"),
    path("docs/a", { real: "src/a" }),
    path(".env"),
    path("b"),
    command("git push"),
    command("ls"),
    { kind: "other" as const, key: "k" },
  );
  const grants = fc.array(
    fc.tuple(names, someTarget).map(([tool, one]) => grantFor(tool, one)),
    { maxLength: 8 },
  );

  test("a denial of the user is never lifted, whatever is granted or allowed", () => {
    fc.assert(
      fc.property(
        names,
        fc.array(someTarget, { maxLength: 3 }),
        fc.array(rule),
        fc.array(rule),
        grants,
        (tool, targets, globalRules, agentRules, given) => {
          const denials = globalRules.filter((one) => one.decision === "deny");
          const alone = evaluate({ tool, targets }, policy({ globalRules: denials }));
          const all = evaluate({ tool, targets }, policy({ globalRules, agentRules, grants: given }));
          if (alone.decision === "deny") expect(all.decision).toBe("deny");
          // And a grant never makes a verdict stricter.
          const without = evaluate({ tool, targets }, policy({ globalRules, agentRules }));
          if (without.decision === "allow") expect(all.decision).toBe("allow");
        },
      ),
      { numRuns: 500 },
    );
  });
});
