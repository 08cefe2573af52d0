// Every recorded trace is translated to exactly the events that were reviewed once.
// REGENERATE=1 rewrites them: read the diff.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AgentEvent } from "../../../src/protocol/events.ts";
import { readLines } from "../recorded.ts";
import { FIXTURES, readTraces, replay, stateFor, toLine } from "./traces.ts";

const traces = readTraces();

describe("recorded traffic", () => {
  test("there are traces, so the tests below mean something", () => {
    expect(traces.length).toBeGreaterThan(60);
  });

  test.each(traces)("$name is translated as reviewed", (trace) => {
    const path = join(FIXTURES, `${trace.name}.agent.jsonl`);
    const lines = replay(trace, stateFor(trace))
      .filter(({ kind }) => kind !== "used") // in test/backends/used.test.ts
      .map(toLine);
    if (process.env["REGENERATE"] === "1") {
      writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    }
    expect(JSON.parse(JSON.stringify(lines))).toEqual(readLines(path));
  });

  test.each(traces)("$name gives only valid events", (trace) => {
    for (const report of replay(trace, stateFor(trace, { include_raw_events: true }))) {
      if (report.kind === "event") expect(AgentEvent.safeParse(report.event).error).toBeUndefined();
    }
  });

  test.each(traces)("$name reaches a blemees/1 client whole: each native event once, in order", (trace) => {
    const reports = replay(trace, stateFor(trace, { native_events: true }));
    const raws = reports
      .flatMap((report) => (report.kind === "event" ? [report.event.raw] : []))
      .filter(Boolean);
    const native = trace.steps.filter(({ dir }) => dir === "in").map(({ msg }) => msg);
    const expected = native.filter(
      (msg) => !String(msg["type"]).startsWith("control_") && msg["subtype"] !== "session_state_changed",
    );
    expect(raws).toEqual(expected);
  });
});
