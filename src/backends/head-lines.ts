// Reads the first records of a JSONL file: a list needs only the top of a transcript.
import { open } from "node:fs/promises";
import { isObject, type JsonObject, tryParseJson } from "../base/json.ts";

const STEP_BYTES = 64 * 1024;

/** Passes each record to `take` until it returns true, or `maxBytes` are read. Damaged lines are skipped. */
export async function readHeadRecords(
  file: string,
  maxBytes: number,
  take: (record: JsonObject) => boolean,
): Promise<void> {
  const handle = await open(file);
  try {
    // Bytes as latin1, so that a character split between reads is whole before it is decoded.
    let tail = "";
    for (let at = 0; at < maxBytes; at += STEP_BYTES) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(STEP_BYTES), 0, STEP_BYTES, at);
      const lines = (tail + buffer.toString("latin1", 0, bytesRead)).split("\n");
      const isEnd = bytesRead < STEP_BYTES;
      tail = isEnd ? "" : (lines.pop() ?? "");
      if (lines.some((line) => takeLine(line, take)) || isEnd) return;
    }
  } finally {
    await handle.close();
  }
}

function takeLine(line: string, take: (record: JsonObject) => boolean): boolean {
  // Not JSON: a half-written last line, or garbage.
  const record = tryParseJson(Buffer.from(line, "latin1").toString("utf8"));
  return isObject(record) && take(record);
}
