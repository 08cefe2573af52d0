// What the turns of a session changed: the lists and hunks that managers show.
import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { GITLINK_MODE, type RawPath, type TreeChange, toShownPath, type WorkTree } from "../../git/index.ts";
import type {
  ChangedFile,
  ChangedTurn,
  ChangesReply,
  FileChangesReply,
  NotCovered,
} from "../../protocol/changes.ts";
import type { Comparisons, FoundChanges } from "./comparisons.ts";
import { isGenerated } from "./generated.ts";
import type { CheckpointRecord } from "./records.ts";
import { findSpan, isKnown, type KnownRecord, listSpans, listTurns, type Span } from "./spans.ts";

/** Why no commit is compared with. */
const INCOMPARABLE = {
  converted: "git converts files between commits and the work tree here (.gitattributes or core.autocrlf)",
  sparse: "this is a sparse checkout, which lacks files that commits have",
};

export interface ChangesOrder {
  turn?: number;
  /** Numbers of checkpoints. `base`: the commit that the work is compared with. */
  from?: number | "base";
  to?: number;
  limit: number;
  after?: string;
}

export interface ChangesFacts {
  session_id: string;
  tree: WorkTree;
  records: readonly CheckpointRecord[];
  comparisons: Comparisons;
}

/** `state: none`. */
export function toNoChanges(session_id: string, reason: string): ChangesReply {
  const totals = { files: 0, additions: 0, deletions: 0 };
  return { session_id, state: "none", reason, turns: [], files: [], totals };
}

/** Throws `change_unknown`, `git_failed`. */
export async function showChanges(facts: ChangesFacts, order: ChangesOrder): Promise<ChangesReply> {
  const { session_id, tree, records, comparisons } = facts;
  const spans = listSpans(records);
  const turns = await showTurns(facts, spans);
  const range = await chooseRange(facts, spans, order);
  const base = range?.base;
  const common = { session_id, state: "ok" as const, repository: tree.root, turns, ...defined({ base }) };
  const not_covered = listNotCovered(range?.to ?? records.findLast(isKnown));
  const rest = not_covered.length === 0 ? {} : { not_covered };
  if (range === undefined)
    return { ...common, files: [], totals: { files: 0, additions: 0, deletions: 0 }, ...rest };
  const found = await comparisons.listChanges(tree, range.from, range.to);
  const inside = spans.slice(
    Math.max(
      0,
      spans.findIndex(({ from }) => from === range.from),
    ),
  );
  const touched = await Promise.all(
    inside
      .filter(({ turns: by }) => by.length > 0)
      .map(async (span) => ({ turns: span.turns, paths: await comparisons.listPaths(tree, span) })),
  );
  const files = toFiles(found, touched);
  const page = files.filter(({ raw }) => order.after === undefined || raw > fromCursor(order.after));
  const shown = page.slice(0, order.limit);
  const sizes = await tree.readSizes(shown.flatMap(({ oid }) => oid ?? []));
  const last = shown.at(-1);
  return {
    ...common,
    files: shown.map(({ file, oid }) => {
      const bytes = oid === undefined ? undefined : sizes.get(oid);
      return bytes === undefined ? file : { ...file, bytes };
    }),
    totals: { files: files.length, ...sumLines(files.map(({ file }) => file)) },
    ...rest,
    ...(page.length > shown.length && last !== undefined ? { next: toCursor(last.raw) } : {}),
  };
}

/** Throws `change_unknown`, `git_failed`. */
export async function showFileChanges(
  facts: ChangesFacts,
  path: RawPath,
  order: Pick<ChangesOrder, "turn" | "from" | "to">,
): Promise<FileChangesReply> {
  const { tree, records, comparisons } = facts;
  const range = await chooseRange(facts, listSpans(records), order);
  const found = range && (await comparisons.listChanges(tree, range.from, range.to));
  const change = found?.changes.find((one) => one.path === path);
  const large = found?.large.find((one) => one.path === path);
  const shown = toShownPath(path);
  if (large !== undefined)
    return { ...shown, status: change === undefined ? large.status : "modified", binary: true, hunks: [] };
  if (change === undefined)
    throw new CodedError("change_unknown", `${shown.path} was not changed there; list the changes`);
  const { status, oldPath, before, after } = change;
  const { hunks, binary, truncated } = await tree.readHunks(before, after);
  return {
    ...shown,
    ...(oldPath === undefined ? {} : { old_path: toShownPath(oldPath).path }),
    status,
    ...(binary ? { binary } : {}),
    ...(truncated ? { truncated } : {}),
    hunks,
  };
}

interface ChosenRange {
  from: KnownRecord;
  to: KnownRecord;
  base?: NonNullable<ChangesReply["base"]>;
}

/** Undefined: there is only one checkpoint so far. */
async function chooseRange(
  { tree, records }: ChangesFacts,
  spans: readonly Span[],
  { turn, from, to }: Pick<ChangesOrder, "turn" | "from" | "to">,
): Promise<ChosenRange | undefined> {
  if (turn !== undefined) {
    if (!records.some((record) => record.turn === turn)) {
      throw new CodedError("change_unknown", `the session has no turn ${turn} with a checkpoint`);
    }
    return findSpan(spans, turn);
  }
  const known = records.filter(isKnown);
  const last = pick(known, to) ?? known.at(-1);
  const [oldest] = known;
  if (last === undefined || oldest === undefined) return undefined;
  if (from === "base") return { ...(await chooseBase(tree, oldest, records)), to: last };
  const first = pick(known, from) ?? oldest;
  return first === last ? undefined : { from: first, to: last };
}

async function chooseBase(
  tree: WorkTree,
  oldest: KnownRecord,
  records: readonly CheckpointRecord[],
): Promise<Required<Pick<ChosenRange, "from" | "base">>> {
  const recorded = records.find(({ base }) => base !== undefined)?.base ?? {};
  const found = await tree.findBase(defined(recorded));
  if (found === undefined) return { from: oldest, base: {} };
  if (typeof found === "string") return { from: oldest, base: { reason: INCOMPARABLE[found] } };
  const { commit, ref, tree: before } = found;
  const from: KnownRecord = { n: 0, kind: "start", at_ms: oldest.at_ms, root: oldest.root, tree: before };
  return { from, base: { commit, ...defined({ ref }) } };
}

function pick(known: readonly KnownRecord[], n: number | undefined): KnownRecord | undefined {
  if (n === undefined) return undefined;
  const found = known.find((record) => record.n === n);
  if (found === undefined) throw new CodedError("change_unknown", `the session has no checkpoint ${n}`);
  return found;
}

async function showTurns(
  { tree, records, comparisons }: ChangesFacts,
  spans: readonly Span[],
): Promise<ChangedTurn[]> {
  const turns: ChangedTurn[] = [];
  for (const turn of listTurns(records)) {
    const span = findSpan(spans, turn.turn);
    const found = span && (await comparisons.listChanges(tree, span.from, span.to));
    const files = found === undefined ? [] : toFiles(found, []).map(({ file }) => file);
    turns.push({ ...turn, files: files.length, ...sumLines(files) });
  }
  return turns;
}

interface ListedFile {
  raw: RawPath;
  file: ChangedFile;
  /** Its content after the change. */
  oid?: string;
}

function toFiles(
  { changes, large }: FoundChanges,
  touched: readonly { turns: readonly number[]; paths: ReadonlySet<RawPath> }[],
): ListedFile[] {
  const files = new Map<RawPath, ListedFile>();
  const listTurnsOf = (...paths: RawPath[]) => {
    const turns = touched.flatMap((span) => (paths.some((path) => span.paths.has(path)) ? span.turns : []));
    return [...new Set(turns)].sort((a, b) => a - b);
  };
  for (const change of changes) {
    const { path, oldPath = path, after } = change;
    const isKept = after !== undefined && after.mode !== GITLINK_MODE;
    const file = { ...toFile(change), turns: listTurnsOf(path, oldPath) };
    files.set(path, { raw: path, file, ...(isKept ? { oid: after.oid } : {}) });
  }
  for (const { path, status } of large) {
    // One that grew over the limit is deleted in the tree.
    const how = files.has(path) ? "modified" : status;
    files.set(path, {
      raw: path,
      file: { ...toShownPath(path), status: how, too_large: true, turns: listTurnsOf(path) },
    });
  }
  return [...files.values()].sort((a, b) => (a.raw < b.raw ? -1 : 1));
}

function toFile({
  path,
  oldPath,
  status,
  before,
  after,
  additions,
  deletions,
}: TreeChange): Omit<ChangedFile, "turns"> {
  const shown = toShownPath(path);
  const isNested = before?.mode === GITLINK_MODE || after?.mode === GITLINK_MODE;
  const isModeChanged = before !== undefined && after !== undefined && before.mode !== after.mode;
  return {
    ...shown,
    ...(oldPath === undefined ? {} : { old_path: toShownPath(oldPath).path }),
    status,
    ...(additions === undefined || deletions === undefined ? {} : { additions, deletions }),
    ...(additions === undefined && !isNested ? { binary: true } : {}),
    ...(isGenerated(shown.path) ? { generated: true } : {}),
    ...(isNested ? { submodule: true } : {}),
    ...(isModeChanged ? { old_mode: before.mode, new_mode: after.mode } : {}),
  };
}

function sumLines(files: readonly ChangedFile[]): { additions: number; deletions: number } {
  const sum = (key: "additions" | "deletions") => files.reduce((total, file) => total + (file[key] ?? 0), 0);
  return { additions: sum("additions"), deletions: sum("deletions") };
}

function listNotCovered(record: CheckpointRecord | undefined): NotCovered[] {
  const list = (paths: readonly string[], why: NotCovered["why"]) =>
    paths.map((path) => ({ ...toShownPath(path), why }));
  return [
    ...list(record?.nested ?? [], "nested_repository"),
    ...list(Object.keys(record?.large ?? {}), "too_large"),
    ...list(record?.unreadable ?? [], "unreadable"),
  ];
}

function toCursor(path: RawPath): string {
  return Buffer.from(path, "latin1").toString("base64url");
}

function fromCursor(cursor: string): RawPath {
  return Buffer.from(cursor, "base64url").toString("latin1");
}
