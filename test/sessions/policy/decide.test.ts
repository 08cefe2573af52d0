import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { POLICY_DECISIONS, PolicyRule, type PolicyWhen } from "../../../src/protocol/policy.ts";
import { decide, explain } from "../../../src/sessions/policy/decide.ts";
import type { RequestFacts } from "../../../src/sessions/policy/types.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { askTool, counted, judge, SESSION } from "./asks.ts";

const COMMAND: RequestFacts = {
  backend: "fake",
  request_type: "command",
  tool: "shell",
  argv: ["git", "show", "HEAD~1"],
  executable: "/usr/bin/git",
  cwd: { lexical: "/proj", real: "/proj" },
  paths: [],
  words: new Map([["HEAD~1", { lexical: "/proj/HEAD~1", real: "/proj/HEAD~1" }]]),
};
const CHANGE: RequestFacts = {
  backend: "fake",
  request_type: "file_change",
  paths: [
    { lexical: "/proj/a.ts", real: "/proj/a.ts" },
    { lexical: "/proj/sub/b.ts", real: "/proj/sub/b.ts" },
  ],
  words: new Map(),
};

function rule(
  when: PolicyWhen,
  then: PolicyRule["then"] = "allow",
  more: Partial<PolicyRule> = {},
): PolicyRule {
  return PolicyRule.parse({ id: `${then}-rule`, when, then, ...more });
}

function decideOn(request: RequestFacts, ...rules: PolicyRule[]) {
  return decide(request, SESSION, counted(rules), 1_000);
}

const SHOW = { argv: ["git", "show", "<rev>"] };

describe("decide", () => {
  test("no rule means ask", () => {
    expect(decideOn(COMMAND)).toEqual({ decision: "ask" });
    expect(decideOn(COMMAND, rule({ argv: ["git", "log"] }))).toEqual({ decision: "ask" });
  });

  test("a template allows what fits its holes, and names the rule", () => {
    expect(decideOn(COMMAND, rule(SHOW))).toEqual({ decision: "allow", rule_id: "allow-rule" });
    const option = { ...COMMAND, argv: ["git", "show", "--output=x"] };
    expect(decideOn(option, rule(SHOW)).decision).toBe("ask");
  });

  test("deny beats ask beats allow, in any order", () => {
    const [allow, ask, deny] = [rule(SHOW), rule(SHOW, "ask"), rule(SHOW, "deny")];
    expect(decideOn(COMMAND, allow, ask).decision).toBe("ask");
    expect(decideOn(COMMAND, ask, allow).decision).toBe("ask");
    expect(decideOn(COMMAND, allow, ask, deny)).toEqual({ decision: "deny", rule_id: "deny-rule" });
    expect(decideOn(COMMAND, deny, ask, allow).decision).toBe("deny");
  });

  test.each<PolicyWhen>([
    { ...SHOW, backend: [] },
    { ...SHOW, session: [] },
    { ...SHOW, label: [] },
    { ...SHOW, request_type: [] },
    { ...SHOW, tool: [] },
    { ...SHOW, cwd_within: [] },
    { ...SHOW, paths_within: [] },
    { argv: [] },
  ])("an empty list matches nothing: %j", (when) => {
    expect(decideOn(COMMAND, rule(when)).decision).toBe("ask");
    expect(decideOn(COMMAND, rule(when, "deny")).decision).toBe("ask");
  });

  test("all conditions must hold", () => {
    const all = { ...SHOW, backend: "fake", session: ["s0", "s1"], label: "main", cwd_within: "/proj" };
    expect(decideOn(COMMAND, rule({ ...all, request_type: "command", tool: "shell" })).decision).toBe(
      "allow",
    );
    for (const other of [
      { backend: "other" },
      { session: "s2" },
      { label: "x" },
      { request_type: "tool" as const },
      { tool: "Bash" },
      { cwd_within: "/proj-evil" },
    ])
      expect(decideOn(COMMAND, rule({ ...all, ...other })).decision, JSON.stringify(other)).toBe("ask");
  });

  test("what is not plain, or not certain, is asked", () => {
    const { argv: _argv, ...unplain } = COMMAND;
    const { executable: _program, ...unknown } = COMMAND;
    expect(decideOn(unplain, rule(SHOW)).decision).toBe("ask");
    expect(decideOn(unknown, rule(SHOW)).decision).toBe("ask");
    expect(decideOn({ ...COMMAND, fault: "odd" }, rule(SHOW)).decision).toBe("ask");
    expect(decideOn({ ...COMMAND, executable: "/usr/bin/python3" }, rule(SHOW)).decision).toBe("ask");
  });

  test("an allow rule for files needs every file, deny and ask need one", () => {
    const when = { paths_within: "/proj/sub" };
    expect(decideOn(CHANGE, rule({ paths_within: "/proj" })).decision).toBe("allow");
    expect(decideOn(CHANGE, rule(when)).decision).toBe("ask");
    expect(decideOn(CHANGE, rule(when, "deny")).decision).toBe("deny");
  });

  test.each([
    { lexical: "/proj/a", real: "/etc/passwd" },
    { lexical: "/proj/a" },
    { lexical: "/proj/a", real: "/proj/a", isLinked: true as const },
    { lexical: "/proj/.env", real: "/proj/.env" },
    { lexical: "/proj/.git/hooks/x", real: "/proj/.git/hooks/x" },
    { lexical: "/proj-evil/a", real: "/proj-evil/a" },
  ])("a file that is elsewhere, hidden or linked is not allowed: %j", (path) => {
    expect(decideOn({ ...CHANGE, paths: [path] }, rule({ paths_within: "/proj" })).decision).toBe("ask");
  });

  test("a command needs argv, a file change paths_within, a tool its name", () => {
    expect(decideOn(COMMAND, rule({ tool: "shell" })).decision).toBe("ask");
    expect(decideOn(CHANGE, rule({ tool: "Edit" })).decision).toBe("ask");
    const tool: RequestFacts = { ...CHANGE, request_type: "tool", tool: "Read" };
    expect(decideOn(tool, rule({ paths_within: "/proj" })).decision).toBe("ask");
    expect(decideOn(tool, rule({ tool: "Read", paths_within: "/proj" })).decision).toBe("allow");
  });

  test("plans, permissions and questions cannot be allowed, but can be denied", () => {
    for (const request_type of ["plan", "permissions", "user_input", "elicitation"] as const) {
      const request: RequestFacts = { ...CHANGE, request_type, tool: "x" };
      expect(decideOn(request, rule({ tool: "x" })).decision).toBe("ask");
      expect(decideOn(request, rule({ request_type }, "deny")).decision).toBe("deny");
    }
  });

  test("a rule ends at its time and after its uses", () => {
    const found = { rule: rule(SHOW, "allow", { max_uses: 2 }), untilMs: 2_000 };
    const at = (uses: number, nowMs: number) =>
      decide(COMMAND, SESSION, [{ ...found, uses }], nowMs).decision;
    expect([at(0, 0), at(1, 1_999), at(2, 0), at(0, 2_000)]).toEqual(["allow", "allow", "ask", "ask"]);
  });

  test("explain says what every rule does and why", () => {
    const verdict = explain(COMMAND, SESSION, counted([rule(SHOW), rule({ argv: ["ls"] }, "deny")]), 1_000);
    expect(verdict).toEqual({
      decision: "allow",
      rule_id: "allow-rule",
      rules: [
        { rule_id: "allow-rule", decision: "allow", matches: true },
        { rule_id: "deny-rule", decision: "deny", matches: false, reason: "another command" },
      ],
    });
  });
});

describe("a tool with several places", () => {
  const files = tempDir("policy-files");
  const inside = (name: string) => join(files, name);
  const within = rule({ tool: "Move", paths_within: files });
  const decideTool = async (input: unknown, ...given: PolicyRule[]) =>
    (await judge(askTool("Move", input), files, given)).decision;

  test.each([
    { path: inside("a") },
    { path: inside("a"), destination: inside("b") },
    { path: inside("a"), pattern: "src/**/*.ts" },
    { path: inside("a"), content: "/etc/passwd ../x" },
    { path: inside("a"), limit: 3, mode: "fast" },
  ])("%j stays in the directory", async (input) => {
    expect(await decideTool(input, within)).toBe("allow");
  });

  test.each([
    { path: inside("a"), destination: "/etc/passwd" },
    { path: inside("a"), destination: "elsewhere" },
    { path: inside("a"), options: { to: ["/etc"] } },
    { path: inside("a"), anything: "x/../../../etc" },
    { path: inside("a"), pattern: "/etc/**" },
    { path: inside("a"), glob: "{/etc,x}/*" },
    { path: inside("a"), url: "file:///etc/passwd" },
  ])("%j may leave it", async (input) => {
    expect(await decideTool(input, within)).toBe("ask");
  });

  test("a deny rule finds the second place", async () => {
    const deny = rule({ tool: "Move", paths_within: "/etc" }, "deny");
    expect(await decideTool({ path: inside("a"), destination: "/etc/passwd" }, deny)).toBe("deny");
  });
});

const someOf = (...values: string[]) => fc.oneof(fc.constantFrom(...values), fc.subarray(values));
const whens = fc
  .record(
    {
      backend: someOf("fake", "other"),
      session: someOf("s1", "s2"),
      label: someOf("main"),
      request_type: fc.constantFrom("command" as const, "file_change" as const),
      tool: someOf("shell", "Edit"),
      argv: fc.constantFrom(["git", "show", "<rev>"], ["git", "show", "HEAD~1"], ["git", "log"], []),
      paths_within: someOf("/proj", "/proj/sub", "/etc"),
      cwd_within: someOf("/proj", "/other"),
    },
    { requiredKeys: [] },
  )
  .filter((when) => Object.keys(when).length > 0);
const rules = fc
  .tuple(fc.stringMatching(/^[a-z]{6}$/), whens, fc.constantFrom(...POLICY_DECISIONS))
  .map(([id, when, then]) => PolicyRule.safeParse({ id, when, then }).data)
  .filter((found) => found !== undefined);
const STRICTNESS = { allow: 0, ask: 1, deny: 2 };

describe("monotone", () => {
  const requests = fc.constantFrom(COMMAND, CHANGE, { ...COMMAND, argv: ["git", "log"] });
  const places = fc.nat(20);

  test.each(["deny", "ask"] as const)("a further %s rule never allows more", (then) => {
    const property = fc.property(
      requests,
      fc.array(rules, { maxLength: 8 }),
      rules,
      places,
      (request, given, more, at) => {
        const stricter = [...given];
        stricter.splice(at % (given.length + 1), 0, { ...more, then });
        const before = decideOn(request, ...given).decision;
        const after = decideOn(request, ...stricter).decision;
        expect(STRICTNESS[after]).toBeGreaterThanOrEqual(STRICTNESS[before]);
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });

  test("removing an allow rule never allows more", () => {
    const property = fc.property(requests, fc.array(rules, { maxLength: 8 }), (request, given) => {
      const before = decideOn(request, ...given);
      for (const one of given.filter(({ then }) => then === "allow")) {
        const after = decideOn(request, ...given.filter((other) => other !== one));
        expect(STRICTNESS[after.decision]).toBeGreaterThanOrEqual(STRICTNESS[before.decision]);
        // Only a rule that still exists can allow.
        if (after.decision === "allow")
          expect(given).toContainEqual(expect.objectContaining({ id: after.rule_id }));
        // What it alone allowed is asked.
        const others = given.filter(
          (other) => other !== one && decideOn(request, other).decision === "allow",
        );
        if (before.rule_id === one.id && others.length === 0) expect(after.decision).toBe("ask");
      }
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  test("the order of rules does not change the decision", () => {
    const property = fc.property(requests, fc.array(rules, { maxLength: 8 }), (request, given) => {
      expect(decideOn(request, ...given.toReversed()).decision).toBe(decideOn(request, ...given).decision);
    });
    fc.assert(property, { numRuns: 1_000 });
  });
});
