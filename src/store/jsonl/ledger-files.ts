// Reads the request ledger of versions in which the JSONL files were the store: `<id>.requests.json` with the open rows
// and the latest settled ones, `<id>.settled.ndjson` with the rest.
import { isObject } from "../../base/json.ts";
import { formatTimestamp } from "../../base/timestamp.ts";
import { asObject, asObjects } from "../../base/values.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { readWhole } from "../disk/whole.ts";
import type { DriverOptions } from "../types.ts";
import { toLedgerPath, toSettledPath } from "./paths.ts";
import { parseObject } from "./scan.ts";

interface Options extends DriverOptions {
  fs: FileSystem;
  dir: string;
}

const TEXTS = ["request_id", "backend", "request_type", "status", "shown_hash", "generation"];

/** All usable rows of a session whose log ends with `last_seq`; unusable ones are reported. */
export function readLedger(
  { fs, dir, onRecovery }: Options,
  session_id: string,
  last_seq: number,
): RequestRow[] {
  const settled = readWhole(fs, toSettledPath(dir, session_id))?.bytes.toString("utf8").split("\n") ?? [];
  const found = settled.filter((line) => line !== "").map((line) => parseObject(Buffer.from(line)));
  const open = readWhole(fs, toLedgerPath(dir, session_id));
  const file = open === undefined ? {} : parseObject(open.bytes);
  if (file === undefined) found.push(undefined);
  const { rows, next } = file ?? {};
  found.push(...asObjects(rows));
  // Written before the frames they belong to, so they count only if those frames are there.
  const { last_seq: from, rows: newer } = asObject(next);
  if (typeof from === "number" && last_seq >= from) found.push(...asObjects(newer));
  const usable = found.filter((row): row is RequestRow & typeof row => isUsable(row, session_id));
  if (usable.length < found.length) {
    const message = `${found.length - usable.length} requests in its files are damaged and were not imported`;
    onRecovery({ session_id, kept_seq: 0, cut_bytes: 0, message });
  }
  return usable;
}

/** Renames the files, so that they are never imported again. */
export function keepLedgerFiles({ fs, dir, now }: Options, session_id: string): void {
  for (const path of [toLedgerPath(dir, session_id), toSettledPath(dir, session_id)]) {
    if (readWhole(fs, path) !== undefined) fs.renameSync(path, `${path}.imported-${formatTimestamp(now())}`);
  }
}

function isUsable(row: unknown, session_id: string): boolean {
  if (!isObject(row) || row["session_id"] !== session_id || !isObject(row["payload"])) return false;
  return (
    Number.isSafeInteger(row["requested_at_ms"]) && TEXTS.every((field) => typeof row[field] === "string")
  );
}
