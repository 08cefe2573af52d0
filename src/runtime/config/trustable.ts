// Everything in a workspace and in `~/.demian` that needs or has trust, for `demian trust`. None of it is run.

import { stat } from "node:fs/promises";
import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { findInstructions, type InstructionFile } from "../instructions/find.ts";
import { readProjectBytes } from "./file.ts";
import { listScopes, readScope, readScopeTrust, type Scope, type ScopePlace } from "./scope.ts";
import { findRecord, getTrust, type TrustKind, type TrustRecords, type TrustState } from "./trust.ts";

export interface Trustable {
  /** Absolute and real. */
  path: string;
  kind: TrustKind;
  scope: Scope;
  /** "gone": decided about, but no longer exists. */
  state: TrustState | "gone";
  sha256: string;
  /** Undefined: the file is gone. */
  bytes?: Buffer;
  decidedAtMs?: number;
  /** Loaded without its own decision: `trust.userTools`. */
  isTrustedByConfig: boolean;
}

export interface TrustSettings {
  userTools: boolean;
  /** False: the configuration turns them off, so they need no trust. */
  instructions?: boolean;
}

export interface Trustables {
  files: Trustable[];
  /** Files that could not be read. */
  faults: string[];
}

export async function listTrustables(place: ScopePlace, config: TrustSettings): Promise<Trustables> {
  const isUsed = config.instructions !== false;
  const { files: instructions, faults: unusable } = isUsed
    ? await findInstructions(place)
    : { files: [], faults: [] };
  const found = await Promise.all(
    (await listScopes(place)).map(async (scope) => {
      const own =
        scope.name === "project" ? instructions.filter((file) => file.scope.name === "project") : [];
      return listScope(scope, place, config.userTools, own);
    }),
  );
  return {
    files: found.flatMap(({ files }) => files),
    faults: [...found.flatMap(({ faults }) => faults), ...unusable],
  };
}

async function listScope(
  scope: Scope,
  place: ScopePlace,
  userTools: boolean,
  instructions: readonly InstructionFile[],
): Promise<Trustables> {
  const faults: string[] = [];
  const isProject = scope.name === "project";
  const trust = await readScopeTrust(scope, place);
  if (trust.warning !== undefined) faults.push(trust.warning);
  const own = isProject
    ? await readProjectBytes(place.cwd).catch((error: unknown) => void faults.push(toMessage(error)))
    : undefined;
  const none = { files: [], faults: [] };
  const [agents, skills, commands, tools] = await Promise.all([
    isProject ? readScope(scope, "agent") : none,
    isProject ? readScope(scope, "skill") : none,
    isProject ? readScope(scope, "command") : none,
    readScope(scope, "tool"),
  ]);
  const isTrustedByConfig = !isProject && userTools;
  const present = [
    ...(own === undefined ? [] : [{ ...own, kind: "config" as const }]),
    ...agents.files,
    ...skills.files,
    ...commands.files,
    ...tools.files,
    ...instructions,
  ].map((file): Trustable => {
    const { path, kind, sha256, bytes } = file;
    const decidedAtMs = findRecord(trust, file)?.decidedAtMs;
    return {
      path,
      kind,
      scope,
      state: getTrust(trust, file),
      sha256,
      bytes,
      ...defined({ decidedAtMs }),
      isTrustedByConfig: isTrustedByConfig && kind === "tool",
    };
  });
  const gone = await listGoneFiles(trust, present, scope);
  return {
    files: [...present, ...gone],
    faults: [...faults, ...agents.faults, ...skills.faults, ...commands.faults, ...tools.faults],
  };
}

async function listGoneFiles(
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
