// The native frame on the events made from it: on all of them when the session asks (include_raw_events), or
// exactly once per frame for the blemees/1 dialect, which sends claude's own frames on.
import type { JsonObject } from "../../base/json.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { ClaudeOptions } from "./options.ts";
import type { Report } from "./state.ts";

export function withRaw(options: ClaudeOptions, frame: JsonObject, reports: Report[]): Report[] {
  if (options.native_events === true) return withRawOnce(frame, reports);
  if (options.include_raw_events !== true) return reports;
  return reports.map((report) => addRaw(report, frame));
}

function withRawOnce(frame: JsonObject, reports: Report[]): Report[] {
  const first = reports.findIndex((report) => report.kind === "event");
  // `null` on the others: the dialect must not show what came with the first one again.
  if (first !== -1) return reports.map((report, index) => addRaw(report, index === first ? frame : null));
  return [...reports, { kind: "event", event: { ...toNotice("claude", "native"), raw: frame } }];
}

function addRaw(report: Report, frame: JsonObject | null): Report {
  return report.kind === "event" ? { kind: "event", event: { ...report.event, raw: frame } } : report;
}
