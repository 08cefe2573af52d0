import { describe, expect, test } from "vitest";
import type { PermissionAnswer, PermissionPrompt } from "../../../src/runtime/permissions/types.ts";
import { tempDir } from "../../backends/temp-dir.ts";
import { bash, edit, never, sceneMaker } from "./gate-scene.ts";

const scene = sceneMaker(tempDir("gate"));

describe("the user's answer", () => {
  test("allows once, and is asked again the next time", async () => {
    const { gate, asked } = await scene({ answer: { decision: "allow" } });
    expect(await gate.decide(bash("ls"), never)).toEqual({ allowed: true, by: "user", always: false });
    await gate.decide(bash("ls"), never);
    expect(asked).toHaveLength(2);
  });

  test("denies, with its reason and the wish to stop", async () => {
    const { gate } = await scene({ answer: { decision: "deny", reason: "use pnpm", stop: true } });
    const decision = { allowed: false, by: "user", reason: "use pnpm", always: false, stop: true };
    expect(await gate.decide(bash("ls"), never)).toEqual(decision);
  });

  test("without a user is not reported as the user's", async () => {
    const { gate } = await scene({ answer: { decision: "deny", by: "nobody" } });
    expect(await gate.decide(bash("ls"), never)).toEqual({ allowed: false, by: "nobody", always: false });
  });

  test("always is remembered for exactly this", async () => {
    const { gate, asked, store } = await scene({ answer: { decision: "allow", always: true } });
    expect(await gate.decide(bash("ls -la"), never)).toEqual({ allowed: true, by: "user", always: true });
    expect(await gate.decide(bash("ls  '-la'"), never)).toEqual({
      allowed: true,
      by: "grant",
      always: false,
    });
    expect(asked).toHaveLength(1);
    expect(await store.list()).toMatchObject([
      { scope: "project", key: { kind: "command", argv: ["ls", "-la"], cwd: "/w" } },
    ]);
    await gate.decide(bash("ls -l"), never);
    expect(asked).toHaveLength(2);
  });

  test("always that was not offered is once", async () => {
    const { gate, asked, store } = await scene({ answer: { decision: "allow", always: true } });
    for (const command of ["ls; ls", "bash x.sh", "node x.js", "env ls"]) {
      expect(await gate.decide(bash(command), never)).toEqual({ allowed: true, by: "user", always: false });
    }
    expect(asked.map(({ always }) => always)).toEqual([undefined, undefined, undefined, undefined]);
    expect(await store.list()).toEqual([]);
  });

  test("always of a file change is for the tool and the directory", async () => {
    const { gate, asked } = await scene({ answer: { decision: "allow", always: true } });
    await gate.decide(edit("src/a.ts"), never);
    expect(asked[0]?.always).toBe("edit_file for all files directly in src/, for 1 h in this project");
    expect(await gate.decide(edit("src/b.ts"), never)).toMatchObject({ by: "grant" });
    expect(await gate.decide(edit("src/.env"), never)).toMatchObject({ allowed: false, by: "hard_deny" });
    await gate.decide(edit("lib/b.ts"), never);
    expect(asked).toHaveLength(2);
  });

  test("what was allowed in the sandbox is asked without it", async () => {
    const { gate, asked } = await scene({ answer: { decision: "allow", always: true } });
    await gate.decide(bash("make"), never);
    expect(await gate.decide(bash("make"), never)).toMatchObject({ by: "grant" });
    for (const sandbox of ["off", "env-only", "none"]) {
      expect(await gate.decide(bash("make", { sandbox }), never)).toMatchObject({
        by: "user",
        always: false,
      });
    }
    expect(asked).toHaveLength(4);
  });

  test("what a tool says about its own command does not count", async () => {
    const { gate, asked } = await scene();
    const resolved = { argv: ["ls"], executable: "/usr/bin/ls", isGrantable: true };
    const call = bash("rm -rf x; ls");
    await gate.decide(
      {
        ...call,
        plan: { ...call.plan, targets: [{ kind: "command", command: "rm -rf x; ls", cwd: "/w", resolved }] },
      },
      never,
    );
    expect(asked[0]?.always).toBeUndefined();
  });
});

describe("--yes", () => {
  test("allows what would be asked, does not ask and stores nothing", async () => {
    const { gate, asked, store } = await scene({ options: { yes: true } });
    expect(await gate.decide(bash("ls"), never)).toEqual({ allowed: true, by: "yes", always: false });
    expect(asked).toEqual([]);
    expect(await store.list()).toEqual([]);
  });

  test("lifts no denial", async () => {
    const globalRules = [
      { tool: "bash", match: { commandPrefix: "git push" }, decision: "deny" as const, reason: "no" },
    ];
    const { gate } = await scene({ options: { yes: true, globalRules } });
    expect(await gate.decide(bash("ls && git push"), never)).toEqual({
      allowed: false,
      by: "global_deny",
      reason: "no",
      always: false,
    });
    expect(await gate.decide(edit(".env"), never)).toMatchObject({ allowed: false, by: "hard_deny" });
  });
});

describe("around the question", () => {
  test("it is reported before the user is asked, and a hook can block it", async () => {
    const { gate, asked } = await scene({ options: { yes: true } });
    const told: string[] = [];
    const onRequest = async (prompt: PermissionPrompt) => {
      told.push(prompt.title);
      return { blocked: true, reason: "not on Fridays" };
    };
    expect(await gate.decide(bash("ls", { onRequest }), never)).toEqual({
      allowed: false,
      by: "hook",
      reason: "not on Fridays",
      always: false,
    });
    expect(told).toEqual(["bash: ls"]);
    expect(asked).toEqual([]);
  });

  test("nothing is reported when rules decide", async () => {
    const { gate } = await scene({ options: { globalRules: [{ tool: "bash", decision: "allow" }] } });
    const onRequest = () => Promise.reject(new Error("asked"));
    expect(await gate.decide(bash("ls", { onRequest }), never)).toMatchObject({ allowed: true, by: "rule" });
  });

  test("an abort ends the question at once, also when the face does not listen", async () => {
    const control = new AbortController();
    const { gate } = await scene({
      answer: () => {
        control.abort();
        return new Promise(() => undefined);
      },
    });
    expect(await gate.decide(bash("ls"), control.signal)).toMatchObject({ allowed: false, by: "abort" });
    expect(await gate.decide(bash("ls"), control.signal)).toMatchObject({ allowed: false, by: "abort" });
  });

  test("an answer that comes with the abort is no consent", async () => {
    const control = new AbortController();
    const answer = async (): Promise<PermissionAnswer> => {
      control.abort();
      return { decision: "allow", always: true };
    };
    const { gate, store } = await scene({ answer });
    expect(await gate.decide(bash("ls"), control.signal)).toMatchObject({ allowed: false, by: "abort" });
    expect(await store.list()).toEqual([]);
  });

  test("a face that fails is a refusal", async () => {
    const { gate } = await scene({ answer: () => Promise.reject(new Error("terminal gone")) });
    const decision = await gate.decide(bash("ls"), never);
    expect(decision).toMatchObject({ allowed: false, reason: expect.stringContaining("terminal gone") });
  });
});
