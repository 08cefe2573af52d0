// Recorded messages of the real claude 2.1.197, as a transport would give them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EventBody } from "../../../../src/runtime/events.ts";
import { Translation } from "../../../../src/runtime/external/claude-code/translate.ts";
import type { ClaudeMessage } from "../../../../src/runtime/external/claude-code/transport.ts";
import { ROOT } from "../../../support/root.ts";

/** Of one message: up to its result. */
export function trace(name: string): ClaudeMessage[] {
  const lines = readFileSync(join(ROOT, "test/fixtures/claude", `${name}.native.jsonl`), "utf8").trim();
  const messages = lines.split("\n").flatMap((line) => {
    const { dir, msg }: { dir: string; msg: ClaudeMessage } = JSON.parse(line);
    return dir === "in" ? [msg] : [];
  });
  const end = messages.findIndex(({ type }) => type === "result");
  return end < 0 ? messages : messages.slice(0, end + 1);
}

export interface Told {
  events: EventBody[];
  types: string[];
  translation: Translation;
}

export function tell(messages: readonly ClaudeMessage[], silentTools: string[] = []): Told {
  const translation = new Translation({ provider: "claudecode", silentTools, now: () => 0 });
  const events = messages.flatMap((message) => translation.take(message));
  return { events, types: events.map(({ type }) => type), translation };
}
