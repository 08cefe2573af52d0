// The prompt of an agent that works alone is its own text and nothing else.
import { describe, expect, test } from "vitest";
import { BUILTIN_AGENTS } from "../../../src/runtime/agents/builtin.ts";
import { buildSystemPrompt } from "../../../src/runtime/agents/system-prompt.ts";

describe("17: single-agent prompts do not know of delegation", () => {
  test.each(
    BUILTIN_AGENTS.filter(({ mode }) => mode === "primary").map((agent) => [agent.name, agent] as const),
  )("the prompt of %s is unchanged, byte by byte", (_, agent) => {
    const { system, append } = agent.prompt;
    const own = [system, ...(append === undefined ? [] : [append])].join("\n\n");
    expect(buildSystemPrompt(agent)).toBe(own);
    expect(buildSystemPrompt(agent, {})).toBe(own);
    expect(own).not.toMatch(/delegate_agent|sub.?agent/i);
  });
});
