// Lists and finds Codex's rollouts on disk, `sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl`, when Codex itself
// cannot be asked (`thread/list`). Reads only the head of each file, asynchronously, a few at a time. Nothing is ever
// deleted, because Codex has an index.
import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { mapBounded } from "../../base/map-bounded.ts";
import { SessionId, type SessionSummary } from "../../protocol/session.ts";
import type { TranscriptFile, TranscriptHead, Transcripts } from "../types.ts";
import { readRolloutHead } from "./rollout-head.ts";
import { createRolloutReader } from "./rollout-reader.ts";

const NAME = /^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+)\.jsonl$/;
const PARALLEL = 16;
/** The newest; longer lists are of no use. */
const MAX_FILES = 2000;

interface Rollout {
  session_id: string;
  path: string;
}

/** For reading, also those of conversations that the daemon knows nothing of. */
export function createRollouts(codexHome: string): Transcripts {
  return {
    list: async () => readFiles(await newestRollouts(codexHome)),
    async find(session_id) {
      const [file] = await readFiles(await findRolloutFiles(codexHome, session_id));
      return file;
    },
    describe: ({ path }) => readRolloutHead(path),
    createReader: createRolloutReader,
  };
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
  const [row] = await readRows(await findRolloutFiles(codexHome, session_id), () => true);
  return row;
}

/** Newest first. */
async function findRolloutFiles(codexHome: string, session_id: string): Promise<Rollout[]> {
  if (!SessionId.safeParse(session_id).success) return [];
  for (const day of await dayDirs(codexHome)) {
    const own = (await rolloutsIn(day)).filter((rollout) => rollout.session_id === session_id);
    if (own.length > 0) return own;
  }
  return [];
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
  keep: (head: TranscriptHead) => boolean,
): Promise<SessionSummary[]> {
  const files = await readFiles(rollouts);
  const rows = await mapBounded(files, PARALLEL, async ({ path, ...file }) => {
    const head = await readRolloutHead(path);
    if (head === undefined || !keep(head)) return undefined;
    return { backend: "codex", attached: false, ...file, rollout_path: path, ...head };
  });
  return rows.filter((row) => row !== undefined);
}

async function readFiles(rollouts: readonly Rollout[]): Promise<TranscriptFile[]> {
  const files = await mapBounded(rollouts, PARALLEL, async (rollout): Promise<TranscriptFile | undefined> => {
    const info = await stat(rollout.path).catch(() => undefined);
    if (!info?.isFile()) return undefined;
    return { ...rollout, mtime_ms: Math.floor(info.mtimeMs), size: info.size };
  });
  return files.filter((file) => file !== undefined);
}

function newestFirst(names: readonly string[]): string[] {
  return [...names].sort().reverse();
}
