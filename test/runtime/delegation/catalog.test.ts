// The agents that an agent may delegate to: in its prompt, and in the schema of the tool.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildSystemPrompt } from "../../../src/runtime/agents/system-prompt.ts";
import { estimateText } from "../../../src/runtime/context/estimate.ts";
import { renderCatalog } from "../../../src/runtime/delegation/catalog.ts";
import { createDelegateTool } from "../../../src/runtime/delegation/delegate-tool.ts";
import type { Delegator, PlannedInvocation } from "../../../src/runtime/delegation/types.ts";
import type { ToolContext } from "../../../src/runtime/tools/types.ts";
import { agent, provider, registry } from "./agents.ts";

const reviewer = agent("reviewer", {
  description: "Read-only code reviewer.",
  catalog: {
    category: "reviewer",
    cost: "cheap",
    useWhen: ["find bugs", "find missing tests"],
    avoidWhen: ["editing files directly"],
    triggers: ["review-this-please"],
  },
});
const builder = agent("builder", { description: "Implements scoped changes." });

describe("20: callable catalog and schema enum", () => {
  test("the catalog has the form of the architecture, and no triggers", () => {
    expect(renderCatalog([reviewer, builder])).toBe(
      [
        "Available sub agents (use delegate_agent to invoke):",
        "",
        "- reviewer (reviewer, cheap): Read-only code reviewer.",
        "  Use when: find bugs; find missing tests",
        "  Avoid when: editing files directly",
        "",
        "- builder: Implements scoped changes.",
      ].join("\n"),
    );
    expect(renderCatalog([])).toBe("");
  });

  test("over its budget it drops the hints first, then shortens descriptions; names stay", () => {
    const many = Array.from({ length: 40 }, (_, n) => ({
      ...reviewer,
      name: `agent${n}`,
      description: "x".repeat(300),
    }));
    const without = renderCatalog(many, 4000);
    expect(without).not.toContain("Use when");
    expect(without).toContain("x".repeat(300));
    const short = renderCatalog(many, 1500);
    expect(estimateText(short)).toBeLessThanOrEqual(1500);
    expect(short).toMatch(/^- agent39 \(reviewer, cheap\): x+…$/m);
    for (const text of [without, short, renderCatalog(many, 1)])
      expect(text.match(/^- agent\d+/gm)).toHaveLength(40);
  });

  test("no text of an agent makes its own entry, or hides something", () => {
    const texts = fc.string({
      unit: fc.constantFrom("\n", "\r", "\u2028", "\u001b", "\u202e", "- ", "x", " (", ")", ": "),
    });
    fc.assert(
      fc.property(texts, texts, texts, texts, fc.integer({ min: 1, max: 300 }), (a, b, c, d, budget) => {
        const evil = agent("evil", {
          description: a,
          catalog: { category: b, useWhen: [c], avoidWhen: [d] },
        });
        const text = renderCatalog([evil, builder], budget);
        const entries = text
          .split("\n")
          .slice(2)
          .filter((line) => line !== "");
        expect(entries.filter((line) => line.startsWith("- ")).length).toBe(2);
        expect(entries.every((line) => /^(?:- (?:evil|builder)| {2}(?:Use|Avoid) when: )/.test(line))).toBe(
          true,
        );
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
        expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/);
      }),
    );
  });

  test("the schema names exactly those that can be called, and the check holds it", () => {
    const tool = createDelegateTool([reviewer, builder]);
    expect(tool.inputSchema).toMatchObject({
      type: "object",
      required: ["agent", "task"],
      additionalProperties: false,
      properties: { agent: { type: "string", enum: ["reviewer", "builder"] } },
    });
    expect(tool.check({ agent: "reviewer", task: "look" })).toEqual({
      ok: true,
      value: { agent: "reviewer", task: "look" },
    });
    expect(tool.check({ agent: "main", task: "look" })).toEqual({
      ok: false,
      message: expect.stringMatching(/^\/agent: .*"reviewer"\|"builder"/),
    });
  });

  test.each([
    ["task", "  ", /^\/task: must not be empty/],
    ["task", "x".repeat(20_001), /^\/task: /],
    ["relevantFiles", Array(51).fill("a"), /^\/relevantFiles: /],
    ["constraints", ["x".repeat(1001)], /^\/constraints\/0: /],
    ["maxTurns", 0, /^\/maxTurns: /],
    ["history", "all", /^\/history: unexpected property/],
  ])("a bad %s is refused by name", (field, value, message) => {
    const verdict = createDelegateTool([builder]).check({ agent: "builder", task: "t", [field]: value });
    expect(verdict).toEqual({ ok: false, message: expect.stringMatching(message) });
  });

  test("the plan asks for the agent with its provider, and what was planned is what is run", async () => {
    const planned: PlannedInvocation = {
      agent: builder,
      provider,
      crossesProvider: true,
      handoff: "h",
      receives: ["the task"],
      maxTurns: 3,
      decision: "ask",
      digest: "d1",
    };
    const ran: unknown[] = [];
    const delegator: Delegator = {
      plan: async (input, { callId }) => {
        ran.push(["plan", input.task, callId]);
        return planned;
      },
      run: async (input, given, { callId }) => {
        ran.push(["run", input.task, given === planned, callId]);
        return { ok: true, content: "done" };
      },
    };
    const { signal } = new AbortController();
    const context = { callId: "c1", signal, delegator } as unknown as ToolContext;
    const tool = createDelegateTool([builder]);
    const input = { agent: "builder", task: "fix\nit" };
    const plan = await tool.plan(input, context);
    expect(plan).toEqual({
      title: "delegate_agent: builder: fix it",
      targets: [{ kind: "agent", agent: "builder", provider: "near", digest: "d1" }],
      invocation: planned,
    });
    expect(await tool.execute(input, plan, context)).toEqual({ ok: true, content: "done" });
    expect(ran).toEqual([
      ["plan", "fix\nit", "c1"],
      ["run", "fix\nit", true, "c1"],
    ]);
  });

  test("without a delegator it says so", async () => {
    const tool = createDelegateTool([builder]);
    const context = { callId: "c1" } as unknown as ToolContext;
    await expect(tool.plan({ agent: "builder", task: "t" }, context)).rejects.toMatchObject({
      code: "delegation_not_allowed",
    });
  });

  test("the registry knows which agents can be called, their source, and what may be shown of them", () => {
    const agents = registry(
      agent("main", { mode: "primary" }),
      reviewer,
      agent("both", { mode: "all" }),
      agent("ghost", { hidden: true }),
      agent("shut", { delegation: { callable: false } }),
    );
    expect(agents.listCallable().map(({ name }) => name)).toEqual(["reviewer", "both"]);
    expect(agents.list({ hidden: true }).map(({ agent: { name } }) => name)).toEqual(["ghost"]);
    expect(agents.list({ mode: "subagent", callable: false }).length).toBe(2);
    expect(agents.list({ scope: "project" })).toEqual([]);
    expect(agents.getSource("both")).toEqual({ scope: "user", trusted: true });
    expect(agents.getSource("nobody")).toBeUndefined();
  });

  test("the prompt of an agent that may delegate ends with the catalog; a sub-agent's names its caller", () => {
    const catalog = renderCatalog([reviewer]);
    expect(buildSystemPrompt(builder, { catalog })).toBe(`You are builder.\n\n${catalog}`);
    const prompt = buildSystemPrompt(builder, { isSubAgent: true, memory: "# notes", catalog });
    expect(prompt.startsWith("You are builder.\n\n# You work for another agent\n")).toBe(true);
    expect(prompt).toMatch(/cannot talk to the user/);
    for (const section of ["## Findings", "## Decisions", "## Open questions"])
      expect(prompt).toContain(section);
    expect(prompt.endsWith(`\n\n# notes\n\n${catalog}`)).toBe(true);
  });
});
