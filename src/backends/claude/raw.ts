// Adds the native frame to its events: to all of them with `include_raw_events`, or to exactly one for the blemees/1
// dialect, which passes claude's own frames on.
import type { JsonObject } from "../../base/json.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { ClaudeOptions } from "./options.ts";
import type { ClaudeReport } from "./state.ts";

export function withRaw(options: ClaudeOptions, frame: JsonObject, reports: ClaudeReport[]): ClaudeReport[] {
  if (options.native_events === true) return withRawOnce(frame, reports);
  if (options.include_raw_events !== true) return reports;
  return reports.map((report) => addRaw(report, frame));
}

function withRawOnce(frame: JsonObject, reports: ClaudeReport[]): ClaudeReport[] {
  const first = reports.findIndex((report) => report.kind === "event");
  // `null` on the others: the dialect must not show the frame again.
  if (first !== -1) return reports.map((report, index) => addRaw(report, index === first ? frame : null));
  return [...reports, { kind: "event", event: { ...toNotice("claude", "native"), raw: frame } }];
}

function addRaw(report: ClaudeReport, frame: JsonObject | null): ClaudeReport {
  return report.kind === "event" ? { kind: "event", event: { ...report.event, raw: frame } } : report;
}
