// Without multi-agent mode nothing of it is there.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chatReply } from "../../support/model-server.ts";
import { delegate, Team, wire } from "./team.ts";

let team: Team;

beforeEach(async () => {
  team = await Team.start();
});

afterEach(() => team.close());

interface Body {
  messages: { content: string }[];
  tools: { function: { name: string } }[];
}

function bodyOf(index: number): Body {
  return (team.main.requests[index]?.body ?? { tools: [], messages: [] }) as Body;
}

const toolsOf = (index: number) => bodyOf(index).tools.map(({ function: { name } }) => name);
const system = (index: number) => bodyOf(index).messages[0]?.content ?? "";

describe("17: single-agent mode", () => {
  test("has no delegation: not in the tools, not in the prompt, not in the events", async () => {
    team.configure({ agentMode: "single-agent" });
    team.main.script(delegate("reviewer", "Look."), chatReply("No such tool."));
    const { session, events } = await team.open();
    await session.run({ text: "go" });
    expect(toolsOf(0)).toEqual([
      "read_file",
      "write_file",
      "edit_file",
      "apply_patch",
      "bash",
      "grep",
      "glob",
      "todo",
      "tail_job",
      "kill_job",
      "web_fetch",
    ]);
    expect(wire(team.main, 0)).not.toMatch(/delegate_agent|sub agent|reviewer/);
    expect(wire(team.main, 1)).toContain('has no tool \\"delegate_agent\\"');
    expect(team.other.requests).toEqual([]);
    for (const event of events) {
      expect(event).not.toHaveProperty("rootSessionId");
      expect(event).not.toHaveProperty("invocationId");
    }
  });

  test("multi-agent mode adds one tool and a catalogue to it, and nothing else", async () => {
    team.configure({ agentMode: "single-agent" });
    team.main.script(chatReply("Hello."), chatReply("Hello."));
    await (await team.open()).session.run({ text: "go" });
    await (await team.open({}, { agentMode: "multi-agent" })).session.run({ text: "go" });
    expect(toolsOf(1)).toEqual([...toolsOf(0), "delegate_agent"]);
    const [single, multi] = [system(0), system(1)];
    expect(multi).toContain("reviewer");
    const [before = "", after = ""] = single.split("\n\nEnvironment:");
    expect(multi.startsWith(before)).toBe(true);
    expect(multi).toContain("Available sub agents");
    expect(after.split("\n").filter((line) => !line.includes("Tools:"))).toEqual(
      (multi.split("\n\nEnvironment:")[1] ?? "").split("\n").filter((line) => !line.includes("Tools:")),
    );
  });

  test("an agent that may not delegate is shown none of it", async () => {
    team.configure({ delegation: { maxDepth: 0 } });
    team.main.script(chatReply("Hello."));
    await (await team.open()).session.run({ text: "go" });
    expect(toolsOf(0)).not.toContain("delegate_agent");
    expect(system(0)).not.toContain("Available sub agents");
  });
});
