// Frames, rows and directories for the store's tests.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { RequestRow } from "../../src/protocol/requests.ts";
import type { SessionRow } from "../../src/protocol/session.ts";
import type { LogBatch, Retention, SessionRunMark, Store } from "../../src/store/index.ts";

export const NO_LIMITS: Retention = {
  maxAgeMs: 0,
  maxRowsPerSession: 0,
  maxBytesPerSession: 0,
  maxTotalBytes: 0,
};

export function frame(session_id: string, seq: number, text = `text ${seq}`): string {
  return `${JSON.stringify({ type: "agent.delta", session_id, seq, text })}\n`;
}

export function frames(session_id: string, first_seq: number, last_seq: number, text?: string): string {
  let all = "";
  for (let seq = first_seq; seq <= last_seq; seq += 1) all += frame(session_id, seq, text);
  return all;
}

export function batch(session_id: string, first_seq: number, last_seq = first_seq, text?: string): LogBatch {
  return {
    session_id,
    first_seq,
    last_seq,
    bytes: Buffer.from(frames(session_id, first_seq, last_seq, text)),
  };
}

/** The batch with a mark of the session's run; `err` is half of `out`. */
export function marked(value: LogBatch, run_id: string, out: number): LogBatch {
  return { ...value, run: { run_id, out, err: Math.floor(out / 2), n: out * 2 } };
}

/** The sessions that tests store marks of. */
export const MARKED = ["a", "a.b", "ab", "b", "s", "t"];

/** As `runMarks` returns what `marked` stored. */
export function mark(session_id: string, run_id: string, out: number): SessionRunMark {
  return { session_id, run_id, out, err: Math.floor(out / 2), n: out * 2 };
}

export function row(session_id: string, fields: Partial<SessionRow> = {}): SessionRow {
  return {
    session_id,
    backend: "claude",
    options: { model: "haiku" },
    started_at_ms: 1_000,
    last_active_at_ms: 2_000,
    last_seq: 0,
    turns: 0,
    last_turn_usage: {},
    cumulative_usage: { input_tokens: 3 },
    began_here: true,
    ...fields,
  };
}

/** An open row of the ledger. */
export function request(
  session_id: string,
  request_id: string,
  fields: Partial<RequestRow> = {},
): RequestRow {
  return {
    request_id,
    session_id,
    backend: "codex",
    request_type: "command",
    status: "pending",
    payload: { title: `Bash: é\u2028 ${request_id}`, choices: [{ decision: "accept" }] },
    shown_hash: "ab12",
    requested_at_ms: 5_000,
    generation: "g1",
    ...fields,
  };
}

/** A temporary directory that is removed with the test. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "blemees-store-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export function text(read: LogBatch | undefined): string {
  return read === undefined ? "" : Buffer.from(read.bytes).toString("utf8");
}

/** Appends batches and expects every one to be stored. */
export async function append(store: Store, ...batches: LogBatch[]): Promise<void> {
  const outcome = await store.append({ batches, rows: [], sync: false });
  const fault = outcome.find((entry) => entry !== undefined);
  if (fault !== undefined) throw new Error(`append failed: ${fault}`);
}

export async function readAll(store: Store, session_id: string, after_seq = 0): Promise<string> {
  let all = "";
  for (let after = after_seq; ; ) {
    const part = await store.read(session_id, after, 1_000);
    if (part === undefined) return all;
    all += text(part);
    after = part.last_seq;
  }
}
