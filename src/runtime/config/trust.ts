// Trust in a project's configuration, as it is now: by the hash of its content, kept in the state directory. A file that
// changed has to be trusted again.
import { join } from "node:path";
import * as z from "zod";
import { messageOf } from "../../base/coded-error.ts";
import { readStateFile, writeStateFile } from "../state-dir.ts";

const TrustRecord = z.object({ path: z.string(), sha256: z.string(), trustedAtMs: z.number() });

export interface TrustedFile {
  path: string;
  sha256: string;
}

/** `directory` is the project's in the state directory. A record that cannot be read trusts nothing. */
export async function isTrusted(
  directory: string,
  file: TrustedFile,
): Promise<{ isTrusted: boolean; warning?: string }> {
  try {
    const record = TrustRecord.safeParse(await readStateFile(recordOf(directory)));
    return { isTrusted: record.success && record.data.sha256 === file.sha256 };
  } catch (error) {
    return {
      isTrusted: false,
      warning: `${recordOf(directory)} cannot be read, so the project is not trusted: ${messageOf(error)}`,
    };
  }
}

export async function trustProject(directory: string, file: TrustedFile, nowMs: number): Promise<void> {
  await writeStateFile(recordOf(directory), { path: file.path, sha256: file.sha256, trustedAtMs: nowMs });
}

function recordOf(directory: string): string {
  return join(directory, "trust.json");
}
