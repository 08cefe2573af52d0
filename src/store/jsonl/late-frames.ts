// Frames that a row knows nothing of, because the daemon was killed after the log was written and before the row
// was. Reads only the end of the log and repairs nothing; what matters is which turn those frames leave running.
import { isObject } from "../../base/json.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { openIfThere, readAll } from "../disk/whole.ts";
import { parseFrame } from "./scan.ts";

const LF = 0x0a;
const FIRST_LOOK = 64 * 1024;

/** The turn that runs at the end of the log, when `row.turn` ran at `row.last_seq`. */
export function runningTurn(fs: FileSystem, path: string, row: SessionRow): SessionRow["turn"] {
  let { turn } = row;
  for (const line of linesBehind(fs, path, row.last_seq)) {
    const frame = parseFrame(line);
    if (!isObject(frame) || Number(frame["seq"]) <= row.last_seq) continue;
    if (frame["type"] === "agent.result") turn = undefined;
    else if (frame["category"] === "task_started") turn = turnOf(frame["data"]) ?? turn;
  }
  return turn;
}

/** Whole lines from the end of the file, at least those behind `seq`. */
function linesBehind(fs: FileSystem, path: string, seq: number): Buffer[] {
  const fd = openIfThere(fs, path);
  if (fd === undefined) return [];
  try {
    const { size } = fs.fstatSync(fd);
    for (let look = FIRST_LOOK; ; look *= 4) {
      const start = Math.max(0, size - look);
      const bytes = Buffer.alloc(size - start);
      const lines = wholeLines(bytes.subarray(0, readAll(fs, fd, bytes, start)), start === 0);
      const first = lines[0] === undefined ? undefined : parseFrame(lines[0]);
      if (start === 0 || Number(first?.seq) <= seq + 1) return lines;
    }
  } finally {
    fs.closeSync(fd);
  }
}

function wholeLines(bytes: Buffer, isFromStart: boolean): Buffer[] {
  const lines: Buffer[] = [];
  let start = isFromStart ? 0 : bytes.indexOf(LF) + 1;
  for (let end = bytes.indexOf(LF, start); end !== -1; end = bytes.indexOf(LF, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

function turnOf(data: unknown): SessionRow["turn"] {
  if (!isObject(data)) return undefined;
  const { turn_id, started_at_ms } = data;
  if (typeof turn_id !== "string" || typeof started_at_ms !== "number") return undefined;
  return { turn_id, started_at_ms };
}
