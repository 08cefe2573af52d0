// The list of a session's checkpoints: one JSON line each, appended, in the directory that also has their content. A line
// that a crash cut off is dropped.
import { appendFile, readFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { readErrno } from "../../base/coded-error.ts";
import { ensurePrivateDir } from "../../base/private-file.ts";

/** `undo_before` and `undo_after` enclose an undo. Paths have one character per byte (`RawPath`). */
export const CheckpointRecord = z.object({
  n: z.int(),
  kind: z.enum(["start", "end", "undo_before", "undo_after"]),
  at_ms: z.int(),
  root: z.string(),
  turn: z.int().optional(),
  turn_id: z.string().optional(),
  /** Absent if it was skipped. */
  tree: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/)
    .optional(),
  /** Why there is no tree. */
  skipped: z.string().optional(),
  /** Files too large to be kept, each with what identifies its content. */
  large: z.record(z.string(), z.string()).optional(),
  nested: z.array(z.string()).optional(),
  unreadable: z.array(z.string()).optional(),
  /** Of `undo_after`: the first turn that was undone; only if all of its files were. */
  undone: z.int().optional(),
  /** Of the first one in a directory. */
  base: z.object({ commit: z.string().optional(), ref: z.string().optional() }).optional(),
  /** Of `undo_after`: the agent has forgotten this turn and all later ones. */
  rewound: z.int().optional(),
});
export type CheckpointRecord = z.infer<typeof CheckpointRecord>;

/** Its time of change is that of the newest checkpoint. */
export const RECORDS_FILE = "checkpoints.jsonl";

/** Throws errors of the disk. */
export async function readRecords(place: string): Promise<CheckpointRecord[]> {
  const path = join(place, RECORDS_FILE);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (readErrno(error) === "ENOENT") return "";
    throw error;
  });
  const end = text.lastIndexOf("\n") + 1;
  if (end < text.length) await truncate(path, Buffer.byteLength(text.slice(0, end)));
  return text.slice(0, end).split("\n").flatMap(parseRecord);
}

export async function appendRecord(place: string, record: CheckpointRecord): Promise<void> {
  await ensurePrivateDir(place);
  await appendFile(join(place, RECORDS_FILE), `${JSON.stringify(record)}\n`, { mode: 0o600 });
}

function parseRecord(line: string): CheckpointRecord[] {
  if (line === "") return [];
  try {
    const parsed = CheckpointRecord.safeParse(JSON.parse(line));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return []; // written while the disk was full
  }
}
