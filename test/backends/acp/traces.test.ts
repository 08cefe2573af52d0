// The recorded traffic of five real agents: whatever they do, a turn has one result, a tool has one result, and nothing
// is lost. A few traces are compared with reviewed translations; REGENERATE=1 rewrites them.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AgentEvent } from "../../../src/protocol/events.ts";
import { RequestPayload } from "../../../src/protocol/requests.ts";
import { expectPairedTools, readLines } from "../recorded.ts";
import { FIXTURES, type Happened, readTraces, replay, toLine } from "./traces.ts";

const traces = readTraces();
const REVIEWED = [
  "claude-new-caps",
  "claude-perm",
  "codex-canceltool",
  "codex-errors",
  "codex-patch",
  "codex-permreject",
  "gemini-load-minute2",
  "gemini-perm",
  "opencode-errors",
  "opencode-perm",
];

describe("recorded traffic", () => {
  test("there are traces of every agent and scenario, so the tests below check something", () => {
    const names = new Set(traces.map(({ name }) => name));
    const agents = ["opencode", "gemini", "codex", "claude", "claude-new"];
    const scenarios = [
      "basic",
      "perm",
      "permreject",
      "cancelstream",
      "canceltool",
      "errors",
      "load2",
      "two",
      "modes",
      "fscaps",
    ];
    const wanted = agents.flatMap((agent) => scenarios.map((scenario) => `${agent}-${scenario}`));
    expect(
      [...wanted, "codex-patch", "claude-new-caps", "codex-resume"].filter((name) => !names.has(name)),
    ).toEqual([]);
  });

  test.each(traces.filter(({ name }) => REVIEWED.includes(name)))(
    "$name is translated as reviewed",
    (trace) => {
      const path = join(FIXTURES, `${trace.name}.agent.jsonl`);
      const lines = replay(trace)
        .filter((happened) => !("report" in happened) || happened.report.kind !== "used") // in used.test.ts
        .map(toLine);
      if (process.env["REGENERATE"] === "1") {
        writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      }
      expect(existsSync(path)).toBe(true);
      expect(JSON.parse(JSON.stringify(lines))).toEqual(readLines(path));
    },
  );

  test.each(traces)("$name produces only valid events and requests", (trace) => {
    for (const happened of replay(trace, { include_raw_events: true })) {
      for (const event of eventsOf(happened)) expect(AgentEvent.safeParse(event).error).toBeUndefined();
      if (!("report" in happened) || happened.report.kind !== "ask") continue;
      expect(RequestPayload.safeParse(happened.report.ask.payload).error).toBeUndefined();
    }
  });

  test.each(traces)(
    "$name has one result for each prompt, after everything that belongs to the turn",
    (trace) => {
      const open = new Set<number>();
      for (const happened of replay(trace)) {
        const { session } = happened;
        if ("prompted" in happened) {
          expect(open.has(session)).toBe(false);
          open.add(session);
        }
        for (const event of eventsOf(happened)) {
          if (event.type === "agent.result") expect(open.delete(session)).toBe(true);
          else if (!OUTSIDE.has(event.type))
            expect([event.type, open.has(session)]).toEqual([event.type, true]);
        }
      }
      expect([...open]).toEqual([]);
    },
  );

  test.each(traces)("$name: every tool is reported once and has exactly one result", (trace) => {
    expectPairedTools(replay(trace).flatMap(eventsOf));
  });

  test.each(traces)("$name loses no text: all of it is in the messages, in the same order", (trace) => {
    const happened = replay(trace);
    const said = (type: string) =>
      happened.flatMap(eventsOf).flatMap((event) => {
        if (event.type === "agent.delta" && type === "agent.delta") return [event.text ?? ""];
        if (event.type === "agent.message" && type === "agent.message") {
          return event.content.map((block) => String(block["text"] ?? block["thinking"] ?? ""));
        }
        return [];
      });
    const sessions = [...new Set(happened.map(({ session }) => session))];
    // Concurrent sessions are interleaved in the deltas.
    if (sessions.length <= 1) expect(said("agent.message").join("")).toBe(said("agent.delta").join(""));
    expect(said("agent.message").join("").length).toBe(said("agent.delta").join("").length);
  });

  test.each(traces)("$name: every request is asked, answered, refused or taken back", (trace) => {
    const asked = trace.steps.filter(
      ({ dir, msg }) => dir === "in" && msg.method !== undefined && msg.id !== undefined,
    );
    const settled = replay(trace).filter(
      (each) => "report" in each && ["ask", "refuse", "reply"].includes(each.report.kind),
    );
    expect(settled.length).toBeGreaterThanOrEqual(asked.length);
  });
});

/** These may come between turns. */
const OUTSIDE: ReadonlySet<string> = new Set(["agent.notice", "agent.system_init"]);

function eventsOf(happened: Happened): AgentEvent[] {
  return "report" in happened && happened.report.kind === "event" ? [happened.report.event] : [];
}
