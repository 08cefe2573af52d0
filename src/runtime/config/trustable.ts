// Everything in a workspace and in `~/.demian` that needs trust or has it, for `demian trust`. Nothing of it is run.
import { stat } from "node:fs/promises";
import { messageOf } from "../../base/coded-error.ts";
import { readProjectBytes } from "./file.ts";
import { type Place, readScope, readScopeTrust, type Scope, scopesOf } from "./scope.ts";
import { recordOf, type TrustKind, type TrustRecords, type TrustState, trustOf } from "./trust.ts";

export interface Trustable {
  /** Absolute and real. */
  path: string;
  kind: TrustKind;
  scope: Scope;
  /** "gone": it was decided about, and is not there any more. */
  state: TrustState | "gone";
  sha256: string;
  /** Undefined: it is gone. */
  bytes?: Buffer;
  decidedAtMs?: number;
  /** Loaded although nobody trusted it by itself: `trust.userTools`. */
  isTrustedByConfig: boolean;
}

export interface Trustables {
  files: Trustable[];
  /** What could not be read. */
  faults: string[];
}

export async function listTrustables(place: Place, config: { userTools: boolean }): Promise<Trustables> {
  const found = await Promise.all(
    (await scopesOf(place)).map((scope) => listScope(scope, place, config.userTools)),
  );
  return { files: found.flatMap(({ files }) => files), faults: found.flatMap(({ faults }) => faults) };
}

async function listScope(scope: Scope, place: Place, userTools: boolean): Promise<Trustables> {
  const faults: string[] = [];
  const isProject = scope.name === "project";
  const trust = await readScopeTrust(scope, place);
  if (trust.warning !== undefined) faults.push(trust.warning);
  const own = isProject
    ? await readProjectBytes(place.cwd).catch((error: unknown) => void faults.push(messageOf(error)))
    : undefined;
  const [agents, tools] = await Promise.all([
    isProject ? readScope(scope, "agent") : { files: [], faults: [] },
    readScope(scope, "tool"),
  ]);
  const isTrustedByConfig = !isProject && userTools;
  const present = [
    ...(own === undefined ? [] : [{ ...own, kind: "config" as const }]),
    ...agents.files,
    ...tools.files,
  ].map((file): Trustable => {
    const { path, kind, sha256, bytes } = file;
    const decidedAtMs = recordOf(trust, file)?.decidedAtMs;
    return {
      path,
      kind,
      scope,
      state: trustOf(trust, file),
      sha256,
      bytes,
      ...(decidedAtMs === undefined ? {} : { decidedAtMs }),
      isTrustedByConfig: isTrustedByConfig && kind === "tool",
    };
  });
  const gone = await goneFiles(trust, present, scope);
  return { files: [...present, ...gone], faults: [...faults, ...agents.faults, ...tools.faults] };
}

async function goneFiles(
  { records }: TrustRecords,
  present: readonly Trustable[],
  scope: Scope,
): Promise<Trustable[]> {
  const lost = records.filter(({ path }) => present.every((file) => file.path !== path));
  const missing = await Promise.all(
    lost.map(async (record) => ({
      record,
      isThere: (await stat(record.path).catch(() => undefined)) !== undefined,
    })),
  );
  return missing.flatMap(({ record: { path, kind, sha256, decidedAtMs }, isThere }) =>
    isThere ? [] : [{ path, kind, scope, state: "gone", sha256, decidedAtMs, isTrustedByConfig: false }],
  );
}
