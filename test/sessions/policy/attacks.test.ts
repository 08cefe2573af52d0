// Rules made from benign requests allow exactly those and what fits their holes; none of the attacks that resemble them.
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { PolicyRule } from "../../../src/protocol/policy.ts";
import { suggestRules } from "../../../src/sessions/policy/suggest.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { ATTACKS } from "../../runtime/permissions/attacks.ts";
import { type Asked, askCommand, factsOf, judge, SESSION } from "./asks.ts";
import { benignTwins, ruleAttacks } from "./rule-attacks.ts";

const base = tempDir("policy");
const W = join(base, "workspace");
const outside = join(base, "outside.txt");
let twins: Asked[] = [];
let rules: PolicyRule[] = [];
const made = new Map<Asked, PolicyRule[]>();

beforeAll(async () => {
  for (const folder of ["sub/.git/hooks", "sub-evil", ".git/hooks", "bin", "../elsewhere"])
    mkdirSync(join(W, folder), { recursive: true });
  for (const name of ["a.txt", "sub/b.txt", "sub/d.txt", ".env", "sub/.env", "café.txt", ".git/config"])
    writeFileSync(join(W, name), "x\n");
  writeFileSync(outside, "secret\n");
  writeFileSync(join(base, "elsewhere", "secret.txt"), "secret\n");
  for (const folder of [W, join(W, "sub")]) {
    symlinkSync(outside, join(folder, "link.txt"));
    symlinkSync(join(base, "elsewhere"), join(folder, "linkdir"));
    symlinkSync(join(base, "missing"), join(folder, "dangling.txt"));
    linkSync(outside, join(folder, "hard.txt"));
  }
  // Programs that this machine lacks cannot be allowed.
  const facts = await Promise.all(benignTwins(W).map((twin) => factsOf(twin, W)));
  twins = benignTwins(W).filter(
    (_twin, at) => facts[at]?.argv === undefined || facts[at].executable !== undefined,
  );
  for (const twin of twins) made.set(twin, await makeRules(twin));
  rules = [...made.values()].flat();
});

async function makeRules(twin: Asked): Promise<PolicyRule[]> {
  const request = await factsOf(twin, W);
  return suggestRules({ request, session: SESSION, decision: "allow", request_id: "req_x", nowMs: 0 });
}

async function allowedOf(asked: readonly Asked[]): Promise<string[]> {
  const decided = await Promise.all(asked.map((one) => judge(one, W, rules)));
  return asked.filter((_one, at) => decided[at]?.decision === "allow").map(describeAsk);
}

function describeAsk({ backend, payload }: Asked): string {
  const { command, changes, input, cwd } = payload;
  return JSON.stringify([backend, command ?? changes ?? payload.tool_name, cwd?.replace(W, "W"), input]);
}

describe("rules made from benign requests", () => {
  test("each of the requests is allowed by a rule made from it, and by all together", async () => {
    expect(twins.length).toBeGreaterThanOrEqual(28);
    for (const twin of twins) {
      const own = made.get(twin) ?? [];
      expect(own.length, describeAsk(twin)).toBeGreaterThan(0);
      for (const rule of own) expect((await judge(twin, W, [rule])).rule_id, describeAsk(twin)).toBe(rule.id);
    }
    expect((await allowedOf(twins)).length).toBe(twins.length);
  });

  test.each([
    "git show 'main~3'",
    "git log -n 17",
    "cat sub/d.txt",
    "head -n 3 sub/b.txt",
    "/bin/bash -lc 'git show main'",
  ])("`%s` is allowed, because it fits the holes", async (command) => {
    expect((await judge(askCommand(command, W), W, rules)).decision).toBe("allow");
  });

  test("none of the attacks on them is allowed", async () => {
    const attacks = ruleAttacks(W, outside);
    expect(new Set(attacks.map((one) => JSON.stringify(one))).size).toBeGreaterThanOrEqual(150);
    expect(await allowedOf(attacks)).toEqual([]);
  });

  test("none of the attacks on demian's grants is allowed", async () => {
    const attacks = ATTACKS.map(({ command }) => askCommand(command, W));
    expect(attacks.length).toBeGreaterThanOrEqual(150);
    expect(await allowedOf(attacks)).toEqual([]);
  });
});
