// Records a session's inputs to a file (`BLEMEESD_TRACE_DIR`), redacted, so that a bug can be replayed with
// `npm run replay FILE`. Each line is written before its effects are performed, so it survives a crash.
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Effect } from "./core/effects.ts";
import type { Input } from "./core/inputs.ts";
import { createScrub } from "./core/scrub.ts";

/** The first line of a recording: what the initial state is built from. */
export interface Beginning {
  row: SessionRow;
  /** When the last owner left; absent if a client is about to own it. */
  left_at_ms?: number | undefined;
}

/** Undefined if recording is off. */
export function openTrace(
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
      // Recording is only a debugging aid: continue without it.
      isBroken = true;
      log.warn("session.trace_failed", { message: toMessage(error) });
    }
  };
  write({ row: scrub(row), left_at_ms });
  return (input, effects) => write({ input: scrub(input), effects: effects.map(({ kind }) => kind) });
}
