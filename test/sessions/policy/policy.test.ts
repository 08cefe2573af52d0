import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import type { SessionRow } from "../../../src/protocol/session.ts";
import { Policy, type PolicyChange } from "../../../src/sessions/policy/policy.ts";
import { hashPayload } from "../../../src/sessions/requests/states.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { FakeStore } from "../fakes.ts";
import { askCommand, PATH } from "./asks.ts";

interface Scene {
  policy: Policy;
  file: string;
  cwd: string;
  session: SessionRow;
  store: FakeStore;
  changes: [PolicyChange, string | undefined][];
  clock: { nowMs: number };
  ask(command: string): RequestRow;
  /** Starts again, with the same store and file. */
  restart(): Policy;
}

function scene(cwd = tempDir("policy-cwd")): Scene {
  const file = join(tempDir("policy-config"), "policy.toml");
  const store = new FakeStore();
  const session = { session_id: "s1", backend: "fake", cwd } as SessionRow;
  const changes: Scene["changes"] = [];
  const clock = { nowMs: 1_000 };
  const start = () =>
    new Policy({
      ...{ path: file, store, log: silentLog, agentPath: PATH },
      findSession: async () => session,
      changed: (change, by) => changes.push([change, by]),
      now: () => clock.nowMs,
    });
  let asked = 0;
  const ask = (command: string): RequestRow => {
    asked += 1;
    const { payload, ...rest } = askCommand(command, cwd);
    const ids = { request_id: `req_${asked}`, session_id: "s1", generation: "g" };
    const row = { ...rest, ...ids, payload, shown_hash: hashPayload(payload), status: "pending" as const };
    return { ...row, requested_at_ms: asked };
  };
  return { policy: start(), file, cwd, session, store, changes, clock, ask, restart: start };
}

const ALLOW = { id: "ls", when: { argv: ["ls"] } };
// biome-ignore lint/suspicious/noThenProperty: the name in the rules file
const withThen = <T extends { id: string }>(rule: T, decision: string) => ({ ...rule, then: decision });

describe("answers", () => {
  test("an allow rule accepts, a deny rule declines with its reason, anything else is asked", async () => {
    const { policy, session, ask } = scene();
    expect(policy.mayDecide(ask("ls"))).toBe(true);
    await policy.add(withThen(ALLOW, "allow"), "person");
    await policy.add(withThen({ id: "no", when: { argv: ["pwd"] }, why: "no pwd" }, "deny"), "person");
    expect(await policy.decide(ask("ls"), session)).toMatchObject({
      answer: { decision: "accept" },
      rule_id: "ls",
    });
    expect((await policy.decide(ask("pwd"), session))?.answer).toEqual({
      decision: "decline",
      message: "no pwd",
    });
    expect(await policy.decide(ask("date"), session)).toBeUndefined();
    expect(policy.mayDecide({ ...ask("ls"), backend: "fake" })).toBe(true);
  });

  test("a rule with max_uses answers exactly that often, also when asked at once and over restarts", async () => {
    const { policy, session, ask, store, restart } = scene();
    await policy.add(withThen({ ...ALLOW, max_uses: 3 }, "allow"), "person");
    const rulings = await Promise.all(Array.from({ length: 5 }, () => policy.decide(ask("ls"), session)));
    expect(rulings.filter((one) => one !== undefined)).toHaveLength(3);
    // One answer could not be stored; two were.
    rulings.find((one) => one !== undefined)?.release();
    for (const id of ["a", "b"]) {
      const row = {
        ...ask("ls"),
        request_id: id,
        status: "resolved" as const,
        rule_id: "ls",
        resolved_at_ms: 7,
      };
      await store.append({ batches: [], rows: [], requests: [row], sync: true });
    }
    const next = restart();
    expect((await next.view()).rules[0]).toMatchObject({ uses: 2, state: "active" });
    expect(await next.decide(ask("ls"), session)).toBeDefined();
    expect(await next.decide(ask("ls"), session)).toBeUndefined();
    expect((await next.view()).rules[0]).toMatchObject({ uses: 3, state: "used_up" });
    expect(await policy.decide(ask("ls"), session)).toBeDefined();
  });

  test("the first requests of a daemon share one count, however slowly it is read", async () => {
    const { policy, session, ask, store } = scene();
    await policy.add(withThen({ ...ALLOW, max_uses: 1 }, "allow"), "person");
    const counts: ((uses: never[]) => void)[] = [];
    const slow = Object.assign(Object.create(store), {
      ruleUses: () => new Promise((resolve) => counts.push(resolve)),
    });
    const next = new Policy({
      ...{ path: (await policy.view()).file, store: slow, log: silentLog, agentPath: PATH },
      findSession: async () => session,
      changed: () => undefined,
    });
    const both = [ask("ls"), ask("ls")].map((row) => next.decide(row, session));
    await vi.waitFor(() => expect(counts.length).toBeGreaterThan(0));
    counts[0]?.([]);
    await both[0];
    for (const finish of counts) finish([]);
    expect((await Promise.all(both)).filter((one) => one !== undefined)).toHaveLength(1);
  });

  test("a rule ends at its time", async () => {
    const { policy, session, ask, clock } = scene();
    await policy.add(withThen({ ...ALLOW, until: "2026-01-01T00:00:00Z" }, "allow"), "person");
    expect(await policy.decide(ask("ls"), session)).toBeDefined();
    clock.nowMs = Date.parse("2026-01-01T00:00:00Z");
    expect(await policy.decide(ask("ls"), session)).toBeUndefined();
    expect((await policy.view()).rules[0]?.state).toBe("expired");
  });

  test("nothing is allowed in a session whose directory has the rules file, but denials hold", async () => {
    const config = tempDir("policy-home");
    const { session, ask, ...rest } = scene(config);
    const policy = new Policy({
      ...{ path: join(config, ".config", "policy.toml"), store: rest.store, log: silentLog, agentPath: PATH },
      findSession: async () => session,
      changed: () => undefined,
    });
    await policy.add(withThen(ALLOW, "allow"), "person");
    await policy.add(withThen({ id: "no", when: { argv: ["pwd"] } }, "deny"), "person");
    expect(await policy.decide(ask("ls"), session)).toBeUndefined();
    expect((await policy.decide(ask("pwd"), session))?.rule_id).toBe("no");
    expect((await policy.explain(ask("ls"))).reason).toMatch(/where its agent could change it/);
  });

  test("nor in a session that was given such a directory", async () => {
    const config = tempDir("policy-home");
    const { session, ask, ...rest } = scene();
    const policy = new Policy({
      ...{ path: join(config, ".config", "policy.toml"), store: rest.store, log: silentLog, agentPath: PATH },
      findSession: async () => session,
      changed: () => undefined,
    });
    await policy.add(withThen(ALLOW, "allow"), "person");
    expect((await policy.decide(ask("ls"), session))?.rule_id).toBe("ls");
    const wide = (dir: string) => ({ ...session, options: { add_dir: [dir] } });
    expect(await policy.decide(ask("ls"), wide(config))).toBeUndefined();
    expect(await policy.decide(ask("ls"), wide(relative(rest.cwd, config)))).toBeUndefined();
    expect((await policy.decide(ask("ls"), wide(tempDir("policy-other"))))?.rule_id).toBe("ls");
  });

  test("a command whose directory is not certain is allowed by where its session started, not by where it says it is", async () => {
    const { policy, session, ask, cwd } = scene();
    await policy.add(withThen({ id: "in", when: { argv: ["ls"], cwd_within: cwd } }, "allow"), "person");
    const request = ask("ls");
    const unsure: RequestRow = { ...request, payload: { ...request.payload, cwd_may_differ: true } };
    expect((await policy.decide(request, session))?.rule_id).toBe("in");
    expect(await policy.decide(unsure, session)).toBeUndefined();
    const [suggested] = await policy.suggest(unsure);
    expect(suggested?.rule.when).toMatchObject({ argv: ["ls"], started_within: cwd });
    expect(suggested?.rule.when).not.toHaveProperty("cwd_within");
    await policy.add({ ...suggested?.rule, id: "started" }, "person");
    expect((await policy.decide(unsure, session))?.rule_id).toBe("started");
    const other = { ...session, cwd: tempDir("policy-other") };
    expect(await policy.decide(unsure, other)).toBeUndefined();
    await policy.add(withThen({ id: "no", when: { argv: ["ls"], cwd_within: cwd } }, "deny"), "person");
    expect((await policy.decide(unsure, session))?.rule_id).toBe("no");
  });

  test("a store that cannot say how often rules were used means asking", async () => {
    const { policy, session, ask, store } = scene();
    await policy.add(withThen(ALLOW, "allow"), "person");
    const broken = Object.assign(Object.create(store), {
      ruleUses: () => Promise.reject(new Error("I/O error")),
    });
    const next = new Policy({
      ...{ path: (await policy.view()).file, store: broken, log: silentLog, agentPath: PATH },
      findSession: async () => session,
      changed: () => undefined,
    });
    expect(await next.decide(ask("ls"), session)).toBeUndefined();
  });
});

describe("the rules file", () => {
  test("is written whole, private, and recorded with who changed it", async () => {
    const { policy, file, changes } = scene();
    await policy.add(withThen(ALLOW, "allow"), "person");
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(readFileSync(file, "utf8")).toContain('argv = [ "ls" ]');
    await policy.remove("ls", "person");
    expect(changes.map(([{ change, rule_ids }, by]) => [change, rule_ids, by])).toEqual([
      ["add", ["ls"], "person"],
      ["remove", [], "person"],
    ]);
    await expect(policy.remove("ls", "person")).rejects.toMatchObject({ code: "rule_unknown" });
  });

  test("an edit takes effect at the next request, and is recorded as one", async () => {
    const { policy, file, session, ask, changes } = scene();
    expect(await policy.decide(ask("ls"), session)).toBeUndefined();
    writeFileSync(file, '[[rules]]\nid = "x"\nthen = "allow"\nwhen.argv = ["ls"]\n', { mode: 0o600 });
    expect(policy.mayDecide(ask("ls"))).toBe(true);
    expect((await policy.decide(ask("ls"), session))?.rule_id).toBe("x");
    expect(changes).toMatchObject([[{ change: "file", rule_ids: ["x"] }, undefined]]);
  });

  test.each([
    ["not TOML", "rules = [", /policy\.toml: not valid TOML/],
    [
      "a bad field",
      '[[rules]]\nid = "x"\nthen = "allow"\nwhen.argw = ["ls"]',
      /rule 1 \("x"\): \/when\/argw/,
    ],
    [
      "an unknown hole",
      '[[rules]]\nid = "x"\nthen = "allow"\nwhen.argv = ["ls", "<any>"]',
      /rule 1 \("x"\): \/when\/argv: unknown hole <any>/,
    ],
    [
      "a wrapper",
      '[[rules]]\nid = "x"\nthen = "allow"\nwhen.argv = ["env", "ls"]',
      /env runs other programs/,
    ],
    [
      "no condition",
      '[[rules]]\nid = "x"\nthen = "deny"\nwhen = {}',
      /rule 1 \("x"\): \/when: needs at least one condition/,
    ],
    [
      "an id used twice",
      '[[rules]]\nid = "x"\nthen = "ask"\nwhen.tool = "a"\n[[rules]]\nid = "x"\nthen = "ask"\nwhen.tool = "a"',
      /rule 2: \/id: "x" is used twice/,
    ],
  ])(
    "an edit that makes it invalid (%s) keeps the last good rules and refuses changes",
    async (_name, text, fault) => {
      const { policy, file, session, ask } = scene();
      await policy.add(withThen(ALLOW, "allow"), "person");
      writeFileSync(file, text, { mode: 0o600 });
      expect((await policy.decide(ask("ls"), session))?.rule_id).toBe("ls");
      expect((await policy.view()).fault).toMatch(fault);
      await expect(policy.add(withThen({ ...ALLOW, id: "y" }, "allow"), "person")).rejects.toMatchObject({
        code: "policy_invalid",
        message: expect.stringMatching(/fix the file first, nothing was changed/),
      });
      expect(readFileSync(file, "utf8")).toBe(text);
    },
  );

  test("one that others can write, or a link, is not used", async () => {
    const { policy, file, session, ask } = scene();
    const text = '[[rules]]\nid = "x"\nthen = "allow"\nwhen.argv = ["ls"]\n';
    writeFileSync(file, text);
    const { chmodSync, rmSync } = await import("node:fs");
    chmodSync(file, 0o666);
    expect(await policy.decide(ask("ls"), session)).toBeUndefined();
    expect((await policy.view()).fault).toMatch(/can be written by others/);
    rmSync(file);
    mkdirSync(join(file, "..", "other"));
    writeFileSync(join(file, "..", "other", "p"), text, { mode: 0o600 });
    symlinkSync(join(file, "..", "other", "p"), file);
    expect((await policy.view()).fault).toMatch(/symbolic link/);
  });

  test("a bad rule is refused with the file, the rule and the field; an id is used once", async () => {
    const { policy, file } = scene();
    const bad = withThen({ id: "bad", when: { argv: ["bash", "-c", "x"] } }, "allow");
    await expect(policy.add(bad, "person")).rejects.toThrow(
      `${file}: rule "bad": /when/argv: bash runs other programs`,
    );
    await policy.add(withThen(ALLOW, "allow"), "person");
    await expect(policy.add(withThen(ALLOW, "deny"), "person")).rejects.toMatchObject({
      code: "rule_exists",
    });
  });
});

describe("making a rule", () => {
  test("suggestions match the request and show exactly what else they would have decided", async () => {
    const { policy, store, ask, cwd } = scene();
    writeFileSync(join(cwd, "a.txt"), "");
    const rows = ["git show main", "git show HEAD", "git push", "cat a.txt"].map((command) => ({
      ...ask(command),
      status: "resolved" as const,
      answer: { decision: "accept" as const },
    }));
    await store.append({ batches: [], rows: [], requests: rows, sync: true });
    const [first] = rows;
    if (first === undefined) throw new Error("no row");
    const [exact, wider] = await policy.suggest(first);
    expect(exact?.rule.when.argv).toEqual(["git", "show", "main"]);
    expect(exact?.matches.map(({ title }) => title)).toEqual(["shell: git show main"]);
    expect(wider?.rule.when.argv).toEqual(["git", "show", "<rev>"]);
    expect(wider?.compared).toBe(4);
    expect(wider?.matches.map(({ title }) => title)).toEqual([
      "shell: git show HEAD",
      "shell: git show main",
    ]);
    const declined = { ...first, answer: { decision: "decline" as const } };
    expect((await policy.suggest(declined))[0]?.rule.then).toBe("deny");
  });

  test("nothing is suggested for a command that no rule can allow", async () => {
    const { policy, ask } = scene();
    expect(await policy.suggest(ask("bash -c 'ls'"))).toEqual([]);
    expect(await policy.suggest(ask("ls; rm x"))).toEqual([]);
  });
});
