// Trust in files, by the hash of their content when the user reviewed them, kept in the state directory. A changed file
// must be trusted again.
import { join } from "node:path";
import * as z from "zod";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { ensurePrivateDir } from "../../base/private-file.ts";
import { quoteShellWord } from "../../base/shell-word.ts";
import { withFileLock } from "../file-lock.ts";
import { readStateFile, writeStateFile } from "../state-dir.ts";

const TRUST_KINDS = ["config", "agent", "tool", "skill", "command", "instructions"] as const;
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
/** The format of older versions, when only a project's configuration could be trusted. */
const OlderFile = z.object({ path: z.string(), sha256: z.string(), trustedAtMs: z.number() });

const MAX_RECORDS = 1000;

export interface TrustedFile {
  path: string;
  sha256: string;
}

export type TrustState = "trusted" | "refused" | "changed" | "unknown";

export interface TrustRecords {
  records: readonly TrustRecord[];
  /** Why none of it applies. */
  warning?: string;
}

/** `directory`: the user's or a project's state directory. Unreadable records trust nothing. */
export async function readTrust(directory: string): Promise<TrustRecords> {
  const file = getTrustPath(directory);
  try {
    return { records: parseRecords(await readStateFile(file)) };
  } catch (error) {
    const warning = `${file} cannot be read, so the project and its files are not trusted: ${toMessage(error)}`;
    return { records: [], warning };
  }
}

export function findRecord({ records }: TrustRecords, { path }: TrustedFile): TrustRecord | undefined {
  return records.find((record) => record.path === path);
}

export function getTrust(trust: TrustRecords, file: TrustedFile): TrustState {
  const record = findRecord(trust, file);
  if (record === undefined) return "unknown";
  return record.sha256 === file.sha256 ? record.decision : "changed";
}

/** Replaces earlier decisions about the same files. */
export async function decideTrust(
  directory: string,
  files: readonly (TrustedFile & { kind: TrustKind })[],
  decision: TrustRecord["decision"],
  nowMs: number,
): Promise<void> {
  const fresh = files.map(({ path, sha256, kind }) => ({ path, sha256, decision, kind, decidedAtMs: nowMs }));
  await changeRecords(directory, (records) => [
    ...records.filter((record) => fresh.every(({ path }) => path !== record.path)),
    ...fresh,
  ]);
}

/** False: there was no decision about it. */
export async function forgetTrust(directory: string, path: string): Promise<boolean> {
  let isFound = false;
  await changeRecords(directory, (records) => {
    isFound = records.some((record) => record.path === path);
    return records.filter((record) => record.path !== path);
  });
  return isFound;
}

/** How the user can grant trust: "If you want it, …" */
export function explainHowToTrust(path: string): string {
  return `read it and run \`demian trust ${quoteShellWord(path)}\``;
}

export function getTrustPath(directory: string): string {
  return join(directory, "trust.json");
}

async function changeRecords(
  directory: string,
  edit: (records: readonly TrustRecord[]) => TrustRecord[],
): Promise<void> {
  const file = getTrustPath(directory);
  try {
    await ensurePrivateDir(directory);
    await withFileLock(`${file}.lock`, async () => {
      // An unreadable file trusts nothing, so replacing it loses nothing.
      const { records } = await readTrust(directory);
      await writeStateFile(file, { version: 1, records: edit(records).slice(-MAX_RECORDS) });
    });
  } catch (cause) {
    if (cause instanceof CodedError) throw cause;
    const todo = "set XDG_STATE_HOME to a directory that you can write to";
    throw new CodedError("state_unusable", `trust cannot be saved: ${toMessage(cause)}; ${todo}`, { cause });
  }
}

function parseRecords(value: unknown): TrustRecord[] {
  if (value === undefined) return [];
  const file = TrustFile.safeParse(value);
  if (file.success) return file.data.records;
  const older = OlderFile.safeParse(value);
  if (!older.success) throw new Error("not a trust record; delete it, and trust the files again");
  const { path, sha256, trustedAtMs } = older.data;
  return [{ path, sha256, decision: "trusted", kind: "config", decidedAtMs: trustedAtMs }];
}
