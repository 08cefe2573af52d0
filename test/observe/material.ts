// Rows, logs and directories for the observability tests.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Log, LogFields } from "../../src/base/log.ts";
import type { EventRow } from "../../src/observe/rows.ts";
import type { ToolEvent, TurnEvent } from "../../src/observe/types.ts";

export function toolRow(over: Partial<ToolEvent> = {}): Extract<EventRow, { kind: "tool" }> {
  const row: ToolEvent = {
    session_id: "s",
    source_provider: "codex-app",
    event_type: "started",
    item_type: "commandExecution",
    phase: "running",
    created_at_ms: 1_000,
    ...over,
  };
  return { kind: "tool", row };
}

export function turnRow(over: Partial<TurnEvent> = {}): Extract<EventRow, { kind: "turn" }> {
  const row: TurnEvent = {
    session_id: "s",
    source_provider: "codex-app",
    turn_id: "t1",
    event_type: "started",
    created_at_ms: 1_000,
    ...over,
  };
  return { kind: "turn", row };
}

export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "blemees-observe-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export interface Line {
  event: string;
  fields: LogFields;
}

/** A logger that keeps its lines. */
export function keptLog(): { log: Log; lines: Line[]; of(event: string): Line[] } {
  const lines: Line[] = [];
  const keep = (event: string, fields: LogFields = {}) => void lines.push({ event, fields });
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep, with: () => log };
  return { log, lines, of: (event) => lines.filter((line) => line.event === event) };
}

/** Takes back the steps of the schema after the usage table, for a file of an earlier version. */
export const BEFORE_TRACES = `DROP TABLE export_cursor; ALTER TABLE turn_events DROP COLUMN root_session_id;
  ALTER TABLE turn_events DROP COLUMN parent_session_id; ALTER TABLE turn_events DROP COLUMN model;`;
