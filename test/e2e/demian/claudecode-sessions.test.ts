// The real Claude Code's sessions under demian: what is resumed, what starts over, the budget. Only as a program: none
// of this depends on how it is run.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claudeProgram } from "../claude/world.ts";
import { untilGone } from "../processes.ts";
import { ClaudeCodeWorld, of } from "./claudecode-world.ts";

let world: ClaudeCodeWorld;
beforeEach(async () => {
  world = await ClaudeCodeWorld.open("cli");
});
afterEach(async () => {
  await untilGone(world.mark);
  await world.close();
});

/** The user's texts of a request. */
function textsOf(request: { messages: { role: string; content: unknown }[] } | undefined): string {
  return JSON.stringify(request?.messages.filter(({ role }) => role === "user") ?? []);
}

/** Where demian stores the session to resume. */
function mapFile(): string {
  const projects = join(world.place.env["XDG_STATE_HOME"] ?? "", "demian/projects");
  const [project = ""] = readdirSync(projects);
  return join(projects, project, "claude-code-sessions.json");
}

/** The real claude's transcripts, one file per session. */
function transcripts(): string[] {
  const projects = join(world.place.home, ".claude/projects");
  return readdirSync(projects, { recursive: true, encoding: "utf8" }).filter((path) =>
    /^[^/]+\/[^/]+\.jsonl$/.test(path),
  );
}

describe("36: sessions of the real program", () => {
  test("the second message continues in the same session, even after a restart of demian", async () => {
    const first = await world.session({ sessionId: "ses_heron" });
    await first.session.run({ text: "remember the blue heron" });
    await first.session.run({ text: "and the red fox" });
    const history = [...first.session.history];
    await first.session.close();
    const second = await world.session({ sessionId: "ses_heron", history });
    await second.session.run({ text: "which animals?" });
    expect(world.model.requests).toHaveLength(3);
    expect(textsOf(world.model.requests[1])).toContain("remember the blue heron");
    const last = textsOf(world.model.requests[2]);
    for (const words of ["remember the blue heron", "and the red fox", "which animals?"]) {
      expect(last.split(words)).toHaveLength(2);
    }
    expect(transcripts()).toHaveLength(1);
    expect(of([...first.events, ...second.events], "session.context.split")).toEqual([]);
  });

  test("another model is another session, and that is reported", async () => {
    const { session, events } = await world.session();
    await session.run({ text: "remember the blue heron" });
    await session.use({ model: "haiku" });
    await session.run({ text: "which animal?" });
    expect(textsOf(world.model.requests[1])).not.toContain("heron");
    expect(of(events, "session.context.split")).toMatchObject([{ executor: "claudecode", reason: "model" }]);
    expect(transcripts()).toHaveLength(2);
  });

  /** As if its files had been cleaned up. */
  async function losingIt(more: Record<string, unknown>) {
    world.configure(more);
    const { session, events } = await world.session();
    await session.run({ text: "remember the blue heron" });
    const kept = readFileSync(mapFile(), "utf8");
    const unknown = "2164765d-7bea-4930-8110-0e5b55fdfc25";
    writeFileSync(mapFile(), kept.replace(/("claudeSessionId": )"[^"]+"/, `$1"${unknown}"`));
    const report = await session.run({ text: "which animal?" });
    expect(report).toMatchObject({ outcome: "completed", text: expect.stringContaining("which animal?") });
    const [split, ...others] = of(events, "session.context.split");
    expect(split).toMatchObject({ reason: "invalid_resume", message: expect.stringContaining(unknown) });
    expect(others).toEqual([]);
    expect(readFileSync(mapFile(), "utf8")).not.toContain(unknown);
    return textsOf(world.model.requests[1]);
  }

  test("a lost session: it starts a new one", async () => {
    expect(await losingIt({})).not.toContain("heron");
  });

  test("a lost session: it starts a new one with a summary", async () => {
    expect(await losingIt({ onInvalidResume: "auto-recover" })).toContain("remember the blue heron");
  });
});

describe("36: the budget", () => {
  test("when it is spent the next message is refused without calling the model, also in another process", async () => {
    // By its own name: what other tests spent in this process does not count.
    const frugal = {
      ...{ type: "claudecode", runtime: "cli", model: "sonnet", cliPath: claudeProgram() },
      ...{ budgetUsd: 0.0001, usageLedgerScope: "daily" },
    };
    world.configure({}, { defaultProvider: "frugal", providers: { frugal } });
    const { session, events } = await world.session();
    const first = await session.run({ text: "hello" });
    expect(first.usage.costUsd).toBeGreaterThan(0.0001);
    expect(of(events, "model.usage")).toMatchObject([{ costUsd: first.usage.costUsd }]);
    const other = await world.session();
    expect(await other.session.run({ text: "hello again" })).toMatchObject({
      outcome: "failed",
      message: expect.stringMatching(/not sent to Claude Code: \$\S+ of the \$0\.0001 .* today; raise/),
    });
    expect(world.model.requests).toHaveLength(1);
  });
});
