// Malformed messages of Claude Code: no value in any field is an error.
import { expect, test } from "vitest";
import { Translation } from "../../../../src/runtime/external/claude-code/translate.ts";
import type { ClaudeMessage } from "../../../../src/runtime/external/claude-code/transport.ts";
import { trace } from "./traces.ts";

const ENDED = { aborted: false, stopped: false };
const ODD: readonly unknown[] = [
  null,
  -1,
  1e300,
  "",
  [null],
  {},
  { toString: 1 },
  [{ type: "text", text: { toString: 1 } }],
];
const RATE: ClaudeMessage = {
  type: "rate_limit_event",
  rate_limit_info: { status: "allowed_warning", resetsAt: 1_800_000_000, utilization: 0.9 },
};

/** Every way to a value in it. */
function waysIn(value: unknown, way: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[...way, key], ...waysIn(inner, [...way, key])]);
}

function replaced(value: unknown, [key = "", ...rest]: readonly string[], by: unknown): unknown {
  const copy: Record<string, unknown> = Array.isArray(value)
    ? ([...value] as unknown as Record<string, unknown>)
    : { ...(value as object) };
  copy[key] = rest.length === 0 ? by : replaced(copy[key], rest, by);
  return copy;
}

test.each(["06-partial-thinking", "07-tool-bash-allowed", "20-err-400"])(
  "%s, with each field replaced",
  (name) => {
    const messages = [...trace(name), RATE];
    for (const message of messages) {
      for (const way of waysIn(message).filter(([first]) => first !== "type")) {
        for (const odd of ODD) {
          const translation = new Translation({ provider: "claudecode" });
          translation.take(replaced(message, way, odd) as ClaudeMessage);
          expect(translation.isResumeInvalid).toBe(false);
          expect(translation.report(ENDED).usage.inputTokens).toBeGreaterThanOrEqual(0);
        }
      }
    }
  },
);
