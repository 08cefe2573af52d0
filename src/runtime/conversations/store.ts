// Stored conversations, of terminals and of ACP clients: $XDG_STATE_HOME/demian/sessions/<id>/{meta.json, history.jsonl,
// lock}. Outside the workspace and readable by the user only, because a history contains files and command output.
import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { readErrno } from "../../base/coded-error.ts";
import { isObject, tryParseJson } from "../../base/json.ts";
import { mapBounded } from "../../base/map-bounded.ts";
import { ensurePrivateDir } from "../../base/private-file.ts";
import { completeToolCalls } from "../history.ts";
import type { Message } from "../messages.ts";
import { findLockHolder, takeLock } from "../process-lock.ts";
import { type Env, getStateDir, resolveRealPath } from "../state-dir.ts";
import { HISTORY_FILE, META_FILE, type SessionMeta, SessionRecord } from "./record.ts";

/** Only our own ids are used in paths. */
const SESSION_ID = /^ses_[A-Za-z0-9_-]{16,40}$/;
const PARALLEL_READS = 16;
const DAY_MS = 86_400_000;
const EMPTY_MS = DAY_MS;
/** Conversations of terminals without a name; clients of ACP delete theirs. */
const FORGOTTEN_MS = 90 * DAY_MS;

export interface StoredSession extends SessionMeta {
  id: string;
}

export interface OpenedRecord {
  record: SessionRecord;
  history: Message[];
  /** Lines that could not be read. */
  lostLines: number;
}

type OnFault = (message: string) => void;

export class SessionStore {
  readonly #directory: string;

  constructor(env: Env) {
    this.#directory = join(getStateDir(env), "sessions");
  }

  newId(): string {
    return `ses_${randomBytes(15).toString("base64url")}`;
  }

  async create(id: string, meta: SessionMeta, onFault: OnFault): Promise<SessionRecord> {
    const directory = join(this.#directory, id);
    await ensurePrivateDir(this.#directory);
    await ensurePrivateDir(directory);
    const free = takeLock(join(directory, "lock"), `session ${id}`);
    const record = new SessionRecord({ directory, meta, free, onFault });
    record.update({});
    return record;
  }

  has(id: string): boolean {
    return SESSION_ID.test(id) && isDirectory(join(this.#directory, id));
  }

  /** Undefined if there is no such session. Throws `session_locked`. */
  open(id: string, fallback: SessionMeta, onFault: OnFault): OpenedRecord | undefined {
    if (!this.has(id)) return undefined;
    const directory = join(this.#directory, id);
    const free = takeLock(join(directory, "lock"), `session ${id}`);
    try {
      const meta = readMeta(readOptionalFile(join(directory, META_FILE))) ?? fallback;
      const { messages, lostLines, isTorn } = readHistory(readOptionalFile(join(directory, HISTORY_FILE)));
      const history = completeToolCalls(messages);
      const record = new SessionRecord({ directory, meta, free, onFault });
      if (isTorn || lostLines > 0 || history.length !== messages.length) record.rewrite(history);
      return { record, history, lostLines };
    } catch (error) {
      free();
      throw error;
    }
  }

  /** Newest first, without empty sessions. */
  async list(): Promise<StoredSession[]> {
    const ids = (await readdir(this.#directory).catch(toEmptyList)).filter((id) => SESSION_ID.test(id));
    const sessions = await mapBounded(ids, PARALLEL_READS, async (id) => {
      const text = await readFile(join(this.#directory, id, META_FILE), "utf8").catch(() => "");
      const meta = readMeta(text);
      return meta?.title === undefined ? undefined : { id, ...meta };
    });
    return sessions
      .filter((session) => session !== undefined)
      .sort((a, b) =>
        a.updatedAt === b.updatedAt ? compare(a.id, b.id) : compare(b.updatedAt, a.updatedAt),
      );
  }

  /** Those of a directory, however it is named; the newest first. */
  async listIn(cwd: string): Promise<StoredSession[]> {
    const real = await resolveRealPath(cwd);
    const same = await mapBounded(await this.list(), PARALLEL_READS, async (session) =>
      session.cwd === cwd || (await resolveRealPath(session.cwd)) === real ? session : undefined,
    );
    return same.filter((session) => session !== undefined);
  }

  /** The process that has it open. */
  findHolder(id: string): number | undefined {
    return this.has(id) ? findLockHolder(join(this.#directory, id, "lock")) : undefined;
  }

  /**
   * Removes sessions that have been empty for a day, because clients create one just by connecting, and those of terminals
   * that have no name and were not used for 90 days.
   */
  async prune(nowMs: number): Promise<void> {
    const ids = (await readdir(this.#directory).catch(toEmptyList)).filter((id) => SESSION_ID.test(id));
    await mapBounded(ids, PARALLEL_READS, async (id) => {
      const meta = readMeta(await readFile(join(this.#directory, id, META_FILE), "utf8").catch(() => ""));
      if (meta === undefined) return;
      const isWanted = meta.name !== undefined || meta.source !== "terminal";
      if (meta.title !== undefined && isWanted) return;
      const limitMs = meta.title === undefined ? EMPTY_MS : FORGOTTEN_MS;
      if (nowMs - Date.parse(meta.updatedAt) < limitMs) return;
      // In use by another process.
      await this.remove(id).catch(() => undefined);
    });
  }

  /** False if there is no such session. Throws `session_locked` while another process has it open. */
  async remove(id: string): Promise<boolean> {
    if (!this.has(id)) return false;
    const directory = join(this.#directory, id);
    const free = takeLock(join(directory, "lock"), `session ${id}`);
    try {
      await rm(directory, { recursive: true, force: true });
    } catch (error) {
      free();
      throw error;
    }
    return true;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readOptionalFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (readErrno(error) === "ENOENT") return "";
    throw error;
  }
}

function toEmptyList(error: unknown): string[] {
  if (readErrno(error) === "ENOENT") return [];
  throw error;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function readMeta(text: string): SessionMeta | undefined {
  const value = tryParseJson(text);
  if (!isObject(value)) return undefined;
  const fields = ["cwd", "agent", "provider", "model", "createdAt", "updatedAt"];
  if (!fields.every((field) => typeof value[field] === "string")) return undefined;
  const { title, name, source, agentMode, turns, ...rest } = value as unknown as SessionMeta;
  const isMode = agentMode === "single-agent" || agentMode === "multi-agent";
  return {
    ...rest,
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof name === "string" ? { name } : {}),
    ...(source === "terminal" ? { source } : {}),
    ...(isMode ? { agentMode } : {}),
    ...(Number.isSafeInteger(turns) ? { turns: Number(turns) } : {}),
  };
}

function readHistory(text: string): { messages: Message[]; lostLines: number; isTorn: boolean } {
  const isTorn = text !== "" && !text.endsWith("\n");
  const lines = text.split("\n");
  const tail = lines.pop() ?? "";
  const messages: Message[] = [];
  let lostLines = 0;
  // A torn last line may lack only its newline.
  for (const line of tail === "" ? lines : [...lines, tail]) {
    const value = tryParseJson(line);
    if (isMessage(value)) messages.push(value);
    else if (line !== tail) lostLines += 1;
  }
  return { messages, lostLines, isTorn };
}

function isMessage(value: unknown): value is Message {
  if (!isObject(value)) return false;
  const { role, content } = value;
  if (role === "user") return typeof content === "string" || Array.isArray(content);
  if (role === "tool") return typeof value["toolCallId"] === "string" && typeof content === "string";
  if (role !== "assistant") return false;
  const calls = value["toolCalls"];
  return calls === undefined || (Array.isArray(calls) && calls.every(isCall));
}

function isCall(value: unknown): boolean {
  return isObject(value) && typeof value["id"] === "string" && typeof value["name"] === "string";
}
