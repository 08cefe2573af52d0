// Lists and finds Codex's rollouts on disk, `sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl`, when Codex itself
// cannot be asked (`thread/list`). Reads only the head of each file, asynchronously, a few at a time. Nothing is ever
// deleted, because Codex has an index.
import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { mapBounded } from "../../base/map-bounded.ts";
import { SessionId, type SessionSummary } from "../../protocol/session.ts";
import { type RolloutHead, readRolloutHead } from "./rollout-head.ts";

const NAME = /^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+)\.jsonl$/;
const PARALLEL = 16;
/** The newest; longer lists are of no use. */
const MAX_FILES = 2000;

interface Rollout {
  session_id: string;
  path: string;
}

/** Rows of one cwd, or of all, newest day first; only the latter include cwd and model. */
export async function listRollouts(codexHome: string, filter: { cwd?: string }): Promise<SessionSummary[]> {
  const { cwd } = filter;
  const rollouts = await newestRollouts(codexHome);
  if (cwd === undefined) return readRows(rollouts, () => true);
  const real = await realpath(cwd).catch(() => cwd);
  const rows = await readRows(rollouts, (head) => head.cwd === cwd || head.cwd === real);
  return rows.map(({ cwd: _cwd, model: _model, ...row }) => row);
}

/** The newest one of this thread, in any cwd. */
export async function findRollout(
  codexHome: string,
  session_id: string,
): Promise<SessionSummary | undefined> {
  if (!SessionId.safeParse(session_id).success) return undefined;
  for (const day of await dayDirs(codexHome)) {
    const own = (await rolloutsIn(day)).filter((rollout) => rollout.session_id === session_id);
    const [row] = await readRows(own, () => true);
    if (row !== undefined) return row;
  }
  return undefined;
}

async function newestRollouts(codexHome: string): Promise<Rollout[]> {
  const rollouts: Rollout[] = [];
  for (const day of await dayDirs(codexHome)) {
    if (rollouts.length >= MAX_FILES) break;
    rollouts.push(...(await rolloutsIn(day)));
  }
  return rollouts.slice(0, MAX_FILES);
}

/** Newest first. */
async function dayDirs(codexHome: string): Promise<string[]> {
  let dirs = [join(codexHome, "sessions")];
  for (const digits of [/^\d{4}$/, /^\d\d$/, /^\d\d$/]) {
    const lists = await mapBounded(dirs, PARALLEL, async (dir) => {
      const names = await readdir(dir).catch(() => []);
      return newestFirst(names.filter((name) => digits.test(name))).map((name) => join(dir, name));
    });
    dirs = lists.flat();
  }
  return dirs;
}

/** Newest first: names start with the time. */
async function rolloutsIn(day: string): Promise<Rollout[]> {
  const names = await readdir(day).catch(() => []);
  return newestFirst(names).flatMap((name) => {
    const session_id = NAME.exec(name)?.[1];
    if (session_id === undefined || !SessionId.safeParse(session_id).success) return [];
    return [{ session_id, path: join(day, name) }];
  });
}

async function readRows(
  rollouts: readonly Rollout[],
  keep: (head: RolloutHead) => boolean,
): Promise<SessionSummary[]> {
  const rows = await mapBounded(rollouts, PARALLEL, (rollout) => readRow(rollout, keep));
  return rows.filter((row) => row !== undefined);
}

async function readRow(
  { session_id, path }: Rollout,
  keep: (head: RolloutHead) => boolean,
): Promise<SessionSummary | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (!info?.isFile()) return undefined;
  const head = await readRolloutHead(path);
  if (head === undefined || !keep(head)) return undefined;
  const file = { mtime_ms: Math.floor(info.mtimeMs), size: info.size, rollout_path: path };
  return { session_id, backend: "codex", attached: false, ...file, ...head };
}

function newestFirst(names: readonly string[]): string[] {
  return [...names].sort().reverse();
}
