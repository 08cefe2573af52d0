import { describe, expect, test } from "vitest";
import { ToolError } from "../../src/runtime/tools/types.ts";
import { Stage, type StageOptions, testTool } from "./stage.ts";

const call = (name: string, input: unknown = { a: 1 }) => ({ toolCalls: [{ name, input }] });

async function once(options: StageOptions, name = "echo", input?: unknown) {
  const stage = new Stage({ tools: [testTool()], ...options, replies: [call(name, input), { text: "ok" }] });
  const report = await stage.run("go");
  return { stage, report, answer: stage.answers[0] ?? "" };
}

describe("an invalid call is answered with a message that the model can act on", () => {
  test("an unknown tool: with the names that there are", async () => {
    const { answer, stage, report } = await once({}, "ekko");
    expect(answer).toContain('no tool "ekko"');
    expect(answer).toContain("echo");
    expect(stage.of("tool.failed")).toMatchObject([{ reason: "unknown_tool" }]);
    expect(report.outcome).toBe("completed");
  });

  test("a tool that exists but that the agent does not see is unknown to it", async () => {
    const { answer } = await once({ tools: [] });
    expect(answer).toContain("Its tools: none");
  });

  test("input that is no object, because its JSON was broken", async () => {
    const { answer, stage } = await once({}, "echo", '{"a": ');
    expect(answer).toContain("not a JSON object");
    expect(stage.of("tool.failed")).toMatchObject([{ reason: "invalid_input" }]);
  });

  test("input that the tool does not take", async () => {
    const tool = testTool({ check: () => ({ ok: false, message: "/a: expected string" }) });
    const { answer } = await once({ tools: [tool] });
    expect(answer).toBe("Invalid input for echo: /a: expected string");
  });

  test.each([
    [
      "a result that is not ok",
      () => Promise.resolve({ ok: false, content: "no such file" }),
      "no such file",
    ],
    ["a tool's own error", () => Promise.reject(new ToolError("x", "is a directory")), "is a directory"],
    ["a bug", () => Promise.reject(new TypeError("x is undefined")), "Failed: x is undefined"],
  ])("%s", async (_, execute, words) => {
    const { answer, stage, report } = await once({ tools: [testTool({ execute })] });
    expect(answer).toBe(words);
    expect(stage.of("tool.failed")).toMatchObject([{ reason: "failed", content: words }]);
    expect(stage.hookInputs.map(({ event }) => event)).toContain("ToolError");
    expect(report.outcome).toBe("completed");
  });
});

describe("hooks before a tool", () => {
  test("may block it: permission is not even asked", async () => {
    let asked = 0;
    const { answer, stage } = await once({
      hooks: ({ event }) => (event === "PreToolUse" ? { blocked: true, reason: "too dangerous" } : {}),
      decide: () => {
        asked += 1;
        return Promise.resolve({ allowed: true, by: "rule", always: false });
      },
    });
    expect(answer).toBe("Blocked: too dangerous");
    expect(asked).toBe(0);
    expect(stage.of("tool.started")).toEqual([]);
  });

  test("may change its input, which is then checked again", async () => {
    const tool = testTool({
      check: (input) =>
        (input as { a?: unknown }).a === "bad"
          ? { ok: false, message: "/a: bad" }
          : { ok: true, value: input },
    });
    const patched = (patch: unknown) => ({
      tools: [tool],
      hooks: ({ event }: { event: string }) => (event === "PreToolUse" ? { patch } : {}),
    });
    expect((await once(patched({ a: "good" }))).answer).toBe('got {"a":"good"}');
    const { answer } = await once(patched({ a: "bad" }));
    expect(answer).toBe("Invalid input for echo after a hook changed it: /a: bad");
  });

  test("what the permission is asked for is what the hook made of the input", async () => {
    const inputs: unknown[] = [];
    await once({
      hooks: ({ event }) => (event === "PreToolUse" ? { patch: { a: 2 } } : {}),
      decide: ({ input, plan }) => {
        inputs.push(input, plan.title);
        return Promise.resolve({ allowed: true, by: "rule", always: false });
      },
    });
    expect(inputs).toEqual([{ a: 2 }, 'echo: {"a":2}']);
  });
});

describe("hooks after a tool", () => {
  test("may change what the model reads", async () => {
    const { answer } = await once({
      hooks: ({ event }) => (event === "PostToolUse" ? { patch: { content: "less" } } : {}),
    });
    expect(answer).toBe("less");
  });

  test("may hold the output back, but not undo the call", async () => {
    const { answer, stage } = await once({
      hooks: ({ event }) => (event === "PostToolUse" ? { blocked: true, reason: "secret inside" } : {}),
    });
    expect(answer).toBe("The tool ran, but a hook withheld its output: secret inside");
    expect(stage.of("tool.completed")).toHaveLength(1);
  });

  test("are not passed by: what is done when the turn is aborted is kept only as they would have it", async () => {
    const abort = () => {
      stage.abort.abort();
      return Promise.resolve({ ok: true, content: "a secret" });
    };
    const stage: Stage = new Stage({
      tools: [testTool({ execute: abort })],
      replies: [call("echo")],
      // As the dispatcher does it.
      hooks: ({ event }, { aborted }) =>
        event === "PostToolUse" && aborted ? { blocked: true, reason: "aborted" } : {},
    });
    expect(await stage.run("go")).toMatchObject({ outcome: "aborted" });
    expect(stage.answers).toEqual(["The tool ran, but a hook withheld its output: aborted"]);
  });
});

describe("permission", () => {
  test("denied by policy is an answer that says so, and the turn continues", async () => {
    const { answer, stage, report } = await once({
      decide: () => Promise.resolve({ allowed: false, by: "hard_deny", reason: "secrets", always: false }),
    });
    expect(answer).toContain("Denied by policy: secrets");
    expect(stage.of("permission.denied")).toMatchObject([{ by: "hard_deny", reason: "secrets" }]);
    expect(stage.of("tool.started")).toEqual([]);
    expect(report.outcome).toBe("completed");
  });

  test("denied by the user includes their reason", async () => {
    const { answer } = await once({
      decide: () => Promise.resolve({ allowed: false, by: "user", reason: "use pnpm", always: false }),
    });
    expect(answer).toMatch(/^The user denied this: use pnpm\. Do not try/);
  });

  test("denied for good ends the turn, and the model is not asked again", async () => {
    const stage = new Stage({
      tools: [testTool()],
      replies: [
        {
          toolCalls: [
            { name: "echo", input: {} },
            { name: "echo", input: {} },
          ],
        },
      ],
      decide: () => Promise.resolve({ allowed: false, by: "user", always: false, stop: true }),
    });
    expect(await stage.run("go")).toMatchObject({ outcome: "denied", turns: 1 });
    expect(stage.answers).toHaveLength(2);
    expect(stage.answers[1]).toContain("the user stopped the turn");
  });
});

describe("a dry run", () => {
  test.each(["workspace", "process"] as const)(
    "stops before a tool with effects (%s)",
    async (sideEffect) => {
      let ran = 0;
      const tool = testTool({
        sideEffect,
        execute: () => {
          ran += 1;
          return Promise.resolve({ ok: true, content: "" });
        },
      });
      const { answer, stage } = await once({ tools: [tool], dryRun: true });
      expect(ran).toBe(0);
      expect(answer).toContain("Dry run");
      expect(stage.of("tool.completed")).toMatchObject([{ metadata: { dryRun: true } }]);
    },
  );

  test("lets a tool without effects read", async () => {
    expect((await once({ dryRun: true })).answer).toBe('got {"a":1}');
  });
});
