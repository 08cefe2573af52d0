// Lists, finds and deletes Claude Code's own transcripts. Reads only the head of each file, a few files at a time.

import { readdir, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isObject, type JsonObject } from "../../base/json.ts";
import { mapBounded } from "../../base/map-bounded.ts";
import { asObject } from "../../base/values.ts";
import { SessionId, type SessionSummary } from "../../protocol/session.ts";
import { readHeadRecords } from "../head-lines.ts";
import type { Environment, TranscriptFile, TranscriptHead, Transcripts } from "../types.ts";
import { readHolders } from "./holders.ts";
import { getProjectsDir } from "./paths.ts";
import { toSlug } from "./transcript-path.ts";
import { createTranscriptReader } from "./transcript-reader.ts";

/** The first user line is near the top, but the model comes after two big attachments. */
const HEAD_BYTES = 256 * 1024;
const PARALLEL_FILES = 16;
const PREVIEW_CHARS = 200;

/** For reading, also those of conversations that the daemon knows nothing of. */
export function createTranscripts(env: Environment): Transcripts {
  return {
    list: async () => readFiles(await listFiles(await listProjectDirs(env))),
    async find(session_id) {
      const files = await readFiles(await findFiles(env, session_id, undefined));
      return files.sort((a, b) => b.mtime_ms - a.mtime_ms)[0];
    },
    describe: ({ path }) => readHead(path),
    createReader: createTranscriptReader,
    holders: () => readHolders(env),
  };
}

/** Rows of one cwd, or of all; only the latter include cwd and model. */
export async function listTranscripts(env: Environment, filter: { cwd?: string }): Promise<SessionSummary[]> {
  const { cwd } = filter;
  if (cwd === undefined) return readRows(await listFiles(await listProjectDirs(env)), () => true);
  const real = await realpath(cwd).catch(() => cwd);
  const dirs = [...new Set([toSlug(real), toSlug(cwd)])].map((slug) => join(getProjectsDir(env), slug));
  // The slug is lossy: /a/b and /a-b share a directory.
  const rows = await readRows(
    await listFiles(dirs),
    (head) => head.cwd === undefined || [cwd, real].includes(head.cwd),
  );
  return rows.map(({ cwd: _cwd, model: _model, ...row }) => row);
}

/** The newest transcript of this session, in any cwd. */
export async function findTranscript(
  env: Environment,
  session_id: string,
): Promise<SessionSummary | undefined> {
  const rows = await readRows(await findFiles(env, session_id, undefined), () => true);
  return rows.sort((a, b) => (b.mtime_ms ?? 0) - (a.mtime_ms ?? 0))[0];
}

/** Includes the transcripts of its sub-agents. */
export async function deleteTranscript(
  env: Environment,
  session_id: string,
  cwd: string | undefined,
): Promise<void> {
  for (const file of await findFiles(env, session_id, cwd)) {
    await rm(file, { force: true });
    await rm(join(dirname(file), session_id), { recursive: true, force: true });
  }
}

async function findFiles(env: Environment, session_id: string, cwd: string | undefined): Promise<string[]> {
  if (!SessionId.safeParse(session_id).success) return [];
  const real = cwd === undefined ? undefined : await realpath(cwd).catch(() => cwd);
  const dirs = real === undefined ? await listProjectDirs(env) : [join(getProjectsDir(env), toSlug(real))];
  const files = dirs.map((dir) => join(dir, `${session_id}.jsonl`));
  const found = await mapBounded(files, PARALLEL_FILES, async (file) =>
    (await isFile(file)) ? file : undefined,
  );
  return found.filter((file) => file !== undefined);
}

async function listProjectDirs(env: Environment): Promise<string[]> {
  const entries = await readdir(getProjectsDir(env), { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(getProjectsDir(env), entry.name));
}

async function listFiles(dirs: readonly string[]): Promise<string[]> {
  const lists = await mapBounded(dirs, PARALLEL_FILES, async (dir) => {
    const names = await readdir(dir).catch(() => []);
    return names.filter((name) => name.endsWith(".jsonl")).map((name) => join(dir, name));
  });
  return lists.flat();
}

async function readRows(
  files: readonly string[],
  keep: (head: TranscriptHead) => boolean,
): Promise<SessionSummary[]> {
  const found = await readFiles(files);
  const rows = await mapBounded(found, PARALLEL_FILES, async ({ path, ...file }) => {
    const head = await readHead(path).catch((): TranscriptHead => ({}));
    return keep(head) ? { backend: "claude", attached: false, ...file, ...head } : undefined;
  });
  return rows.filter((row) => row !== undefined);
}

async function readFiles(paths: readonly string[]): Promise<TranscriptFile[]> {
  const files = await mapBounded(paths, PARALLEL_FILES, async (path): Promise<TranscriptFile | undefined> => {
    const info = await stat(path).catch(() => undefined);
    if (!info?.isFile()) return undefined;
    const session_id = basename(path, ".jsonl");
    return { session_id, path, mtime_ms: Math.floor(info.mtimeMs), size: info.size };
  });
  return files.filter((file) => file !== undefined);
}

async function readHead(file: string): Promise<TranscriptHead> {
  const head: TranscriptHead = {};
  await readHeadRecords(file, HEAD_BYTES, (record) => {
    readRecord(head, record);
    return head.cwd !== undefined && head.model !== undefined && head.preview !== undefined;
  });
  return head;
}

function readRecord(head: TranscriptHead, record: JsonObject): void {
  const message = asObject(record["message"]);
  if (typeof record["cwd"] === "string") head.cwd ??= record["cwd"];
  const model = record["model"] ?? message["model"];
  if (typeof model === "string" && model !== "<synthetic>") head.model ??= model;
  const preview = head.preview === undefined ? readPreview(record, message) : undefined;
  if (preview !== undefined) head.preview = preview;
}

function readPreview(record: JsonObject, message: JsonObject): string | undefined {
  if (record["type"] !== "user" || record["isMeta"] === true || record["isSidechain"] === true)
    return undefined;
  const content: unknown = message["content"];
  const blocks: unknown[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
  const block = blocks.find((item) => isObject(item) && typeof item["text"] === "string");
  const text = isObject(block) ? String(block["text"]) : "";
  // <command-name>, <local-command-stdout>, <task-notification>: not written by the user.
  return text === "" || text.startsWith("<") ? undefined : text.slice(0, PREVIEW_CHARS);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
