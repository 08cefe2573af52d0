// Keeps every input of a session in a file (`BLEMEESD_TRACE_DIR`), without what people and agents say, so that a bug
// can be replayed: `npm run replay FILE`. A line is written before its effects are performed: it survives a crash.
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Effect } from "./core/effects.ts";
import type { Input } from "./core/inputs.ts";
import { createScrub } from "./core/scrub.ts";

/** What a recording begins with: what the session is made of. */
export interface Beginning {
  row: SessionRow;
  /** Since when nobody owns it; absent: somebody is about to. */
  left_at_ms?: number | undefined;
}

/** Undefined when nothing is kept. */
export function traceOf(
  dir: string | undefined,
  { row, left_at_ms }: Beginning,
  log: Log,
): ((input: Input, effects: readonly Effect[]) => void) | undefined {
  if (dir === undefined) return undefined;
  const file = join(dir, `${row.session_id}.jsonl`);
  const scrub = createScrub();
  let isBroken = false;
  const write = (line: object) => {
    if (isBroken) return;
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    } catch (error) {
      // It is for looking on: the session goes on without it.
      isBroken = true;
      log.warn("session.trace_failed", { message: messageOf(error) });
    }
  };
  write({ row: scrub(row), left_at_ms });
  return (input, effects) => write({ input: scrub(input), effects: effects.map(({ kind }) => kind) });
}
