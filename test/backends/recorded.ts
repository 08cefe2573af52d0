// Recorded traffic of an agent (test/fixtures/<backend>/*.native.jsonl), and checks for its translation.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { AgentEvent } from "../../src/protocol/events.ts";

const NATIVE = ".native.jsonl";

/** The lines of every recording in the directory, by its name. */
export function readRecordings(directory: string): { name: string; lines: JsonObject[] }[] {
  const files = readdirSync(directory).filter((file) => file.endsWith(NATIVE));
  return files.sort().map((file) => ({
    name: file.replace(NATIVE, ""),
    lines: readLines(join(directory, file)),
  }));
}

export function readLines(path: string): JsonObject[] {
  const text = readFileSync(path, "utf8").trim();
  return text === "" ? [] : text.split("\n").map((line) => JSON.parse(line) as JsonObject);
}

/** Every tool is reported once, and has exactly one result, after it. */
export function expectPairedTools(events: readonly AgentEvent[]): void {
  const open = new Set<string>();
  const done = new Set<string>();
  for (const event of events) {
    if (event.type === "agent.tool_use") {
      expect(open.has(event.tool_use_id) || done.has(event.tool_use_id)).toBe(false);
      open.add(event.tool_use_id);
    }
    if (event.type === "agent.tool_result") {
      expect(open.delete(event.tool_use_id)).toBe(true);
      done.add(event.tool_use_id);
    }
  }
  expect([...open]).toEqual([]);
}
