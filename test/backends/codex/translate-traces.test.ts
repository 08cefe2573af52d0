// Every recorded trace is compared with its reviewed translation. REGENERATE=1 rewrites them: read the diff.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AgentEvent } from "../../../src/protocol/events.ts";
import { RequestPayload } from "../../../src/protocol/requests.ts";
import { expectPairedTools, readLines } from "../recorded.ts";
import { FIXTURES, type Happened, readTraces, replay, toLine } from "./translate-traces.ts";

const traces = readTraces();

describe("recorded traffic", () => {
  test("there are traces, so the tests below check something", () => {
    expect(traces.length).toBeGreaterThan(60);
    const events = traces.flatMap((trace) => replay(trace).flatMap(eventsOf));
    expect(events.length).toBeGreaterThan(1000);
  });

  test.each(traces)("$name is translated as reviewed", (trace) => {
    const path = join(FIXTURES, `${trace.name}.agent.jsonl`);
    const lines = replay(trace, { user_echo: trace.name.includes("image") })
      .filter((happened) => !isUse(happened))
      .map(toLine);
    if (process.env["REGENERATE"] === "1") {
      writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    }
    expect(JSON.parse(JSON.stringify(lines))).toEqual(readLines(path));
  });

  test.each(traces)("$name produces only valid events and requests", (trace) => {
    for (const happened of replay(trace, { include_raw_events: true, user_echo: true })) {
      for (const event of eventsOf(happened)) {
        expect(AgentEvent.safeParse(event).error).toBeUndefined();
        // Between two native frames there is no raw: we close what Codex left open.
        if (event.type !== "agent.tool_result") expect(event.raw).toBeDefined();
      }
      if ("ask" in happened && "payload" in happened.ask) {
        expect(RequestPayload.safeParse(happened.ask.payload).error).toBeUndefined();
      }
    }
  });

  test.each(traces)("$name has one result for each turn that Codex ended on a root thread", (trace) => {
    const happened = replay(trace);
    const results = happened.flatMap(eventsOf).filter(({ type }) => type === "agent.result");
    const ids = new Set(
      trace.steps.flatMap(({ msg }) => (msg.result?.["thread"] as { id?: string } | undefined)?.id ?? []),
    );
    const ended = trace.steps.filter(
      ({ dir, msg: { method, params } }) =>
        dir === "in" && method === "turn/completed" && ids.has(String(params?.["threadId"])),
    );
    expect(results.length).toBe(ended.length);
    expect(happened.filter((each) => "report" in each && each.report.kind === "turn_ended").length).toBe(
      ended.length,
    );
  });

  test.each(traces)("$name: every call has exactly one result, after the call", (trace) => {
    expectPairedTools(replay(trace).flatMap(eventsOf));
  });

  test.each(traces)(
    "$name: the result is the last event of an interrupted turn except for late results",
    (trace) => {
      const lines = replay(trace).map(toLine);
      lines.forEach((line, at) => {
        if (line["signal"] === "turn_ended") expect(lines[at - 1]).toMatchObject({ type: "agent.result" });
      });
    },
  );
});

/** In test/backends/used.test.ts. */
function isUse(happened: Happened): boolean {
  return "report" in happened && happened.report.kind === "used";
}

function eventsOf(happened: Happened): AgentEvent[] {
  return "report" in happened && happened.report.kind === "event" ? [happened.report.event] : [];
}
