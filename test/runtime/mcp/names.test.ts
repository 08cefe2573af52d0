import { describe, expect, test } from "vitest";
import { nameServer, nameTool } from "../../../src/runtime/mcp/names.ts";
import { evaluate } from "../../../src/runtime/permissions/evaluate.ts";
import type { PermissionRule } from "../../../src/runtime/permissions/types.ts";

describe("nameTool", () => {
  test("names fit every provider, and different tools get different names", () => {
    const taken = new Set<string>();
    const tools = ["search", "se arch", "se/arch", "a".repeat(100), `${"a".repeat(100)}b`, "検索", "__", ""];
    for (const tool of tools) taken.add(nameTool("github", tool, taken));
    expect(taken.size).toBe(tools.length);
    for (const name of taken) expect(name).toMatch(/^mcp__github__[A-Za-z0-9_-]{0,51}$/);
    expect(nameTool("github", "search", new Set())).toBe("mcp__github__search");
  });
});

describe("nameServer", () => {
  test("a client's name becomes a word of its own", () => {
    expect(nameServer("My files (2)", new Set())).toBe("My_files_2_");
    expect(nameServer("files", new Set(["files"]))).toBe("files_2");
    expect(nameServer("1", new Set())).toBe("s_1");
  });
});

describe("rules for servers", () => {
  const decide = (tool: string, agentRules: PermissionRule[]) =>
    evaluate(
      { tool, targets: [{ kind: "other", key: "k" }] },
      { globalRules: [], agentRules, toolDefault: "ask", grants: [], nowMs: 0 },
    ).decision;

  test("cover all tools of a server, or of all servers, and the closer one wins", () => {
    const rules: PermissionRule[] = [
      { tool: "mcp__*", decision: "deny" },
      { tool: "mcp__github__*", decision: "allow" },
      { tool: "mcp__github__delete", decision: "ask" },
    ];
    expect(decide("mcp__other__search", rules)).toBe("deny");
    expect(decide("mcp__github__search", rules)).toBe("allow");
    expect(decide("mcp__github__delete", rules)).toBe("ask");
    expect(decide("bash", rules)).toBe("ask");
  });

  test("a pattern is one only where a name ends, so that it covers no other server", () => {
    expect(decide("mcp__github2__x", [{ tool: "mcp__github__*", decision: "allow" }])).toBe("ask");
    expect(decide("mcp__github2__x", [{ tool: "mcp__github*", decision: "allow" }])).toBe("ask");
  });
});
