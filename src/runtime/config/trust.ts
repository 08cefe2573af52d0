// Trust in what comes from files: each as it was when somebody looked at it, by the hash of its content, kept in the state
// directory. A file that changed has to be trusted again.
import { join } from "node:path";
import * as z from "zod";
import { CodedError, messageOf } from "../../base/coded-error.ts";
import { shellWord } from "../../base/shell-word.ts";
import { withFileLock } from "../file-lock.ts";
import { ensurePrivateDir, readStateFile, writeStateFile } from "../state-dir.ts";

const TRUST_KINDS = ["config", "agent", "tool"] as const;
export type TrustKind = (typeof TRUST_KINDS)[number];

const TrustRecord = z.object({
  /** Absolute and real. */
  path: z.string(),
  sha256: z.string(),
  decision: z.enum(["trusted", "refused"]),
  kind: z.enum(TRUST_KINDS),
  decidedAtMs: z.number(),
});
export type TrustRecord = z.infer<typeof TrustRecord>;

const TrustFile = z.object({ version: z.literal(1), records: z.array(TrustRecord) });
/** What was written when only a project's configuration could be trusted. */
const OlderFile = z.object({ path: z.string(), sha256: z.string(), trustedAtMs: z.number() });

const MAX_RECORDS = 1000;

export interface TrustedFile {
  path: string;
  sha256: string;
}

export type TrustState = "trusted" | "refused" | "changed" | "unknown";

export interface TrustRecords {
  records: readonly TrustRecord[];
  /** Why nothing of it counts. */
  warning?: string;
}

/** `directory`: of the user or of a project, in the state directory. Records that cannot be read trust nothing. */
export async function readTrust(directory: string): Promise<TrustRecords> {
  const file = trustFile(directory);
  try {
    return { records: recordsOf(await readStateFile(file)) };
  } catch (error) {
    const warning = `${file} cannot be read, so the project is not trusted, nor any file of it: ${messageOf(error)}`;
    return { records: [], warning };
  }
}

export function recordOf({ records }: TrustRecords, { path }: TrustedFile): TrustRecord | undefined {
  return records.find((record) => record.path === path);
}

export function trustOf(trust: TrustRecords, file: TrustedFile): TrustState {
  const record = recordOf(trust, file);
  if (record === undefined) return "unknown";
  return record.sha256 === file.sha256 ? record.decision : "changed";
}

/** What was decided before about the same files is forgotten. */
export async function decideTrust(
  directory: string,
  files: readonly (TrustedFile & { kind: TrustKind })[],
  decision: TrustRecord["decision"],
  nowMs: number,
): Promise<void> {
  const fresh = files.map(({ path, sha256, kind }) => ({ path, sha256, decision, kind, decidedAtMs: nowMs }));
  await change(directory, (records) => [
    ...records.filter((record) => fresh.every(({ path }) => path !== record.path)),
    ...fresh,
  ]);
}

/** False: nothing was decided about it. */
export async function forgetTrust(directory: string, path: string): Promise<boolean> {
  let isFound = false;
  await change(directory, (records) => {
    isFound = records.some((record) => record.path === path);
    return records.filter((record) => record.path !== path);
  });
  return isFound;
}

/** What a person does who wants what only trust lets in: "If you want it, …" */
export function howToTrust(path: string): string {
  return `read it and run \`demian trust ${shellWord(path)}\``;
}

export function trustFile(directory: string): string {
  return join(directory, "trust.json");
}

async function change(
  directory: string,
  edit: (records: readonly TrustRecord[]) => TrustRecord[],
): Promise<void> {
  const file = trustFile(directory);
  try {
    await ensurePrivateDir(directory);
    await withFileLock(`${file}.lock`, async () => {
      // What cannot be read trusts nothing, so that nothing is lost with it.
      const { records } = await readTrust(directory);
      await writeStateFile(file, { version: 1, records: edit(records).slice(-MAX_RECORDS) });
    });
  } catch (cause) {
    if (cause instanceof CodedError) throw cause;
    const todo = "set XDG_STATE_HOME to a directory that you can write";
    throw new CodedError("state_unusable", `trust cannot be kept: ${messageOf(cause)}; ${todo}`, { cause });
  }
}

function recordsOf(value: unknown): TrustRecord[] {
  if (value === undefined) return [];
  const file = TrustFile.safeParse(value);
  if (file.success) return file.data.records;
  const older = OlderFile.safeParse(value);
  if (!older.success) throw new Error("it is no record of trust; delete it, and trust the files again");
  const { path, sha256, trustedAtMs } = older.data;
  return [{ path, sha256, decision: "trusted", kind: "config", decidedAtMs: trustedAtMs }];
}
