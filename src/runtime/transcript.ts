// The transcript of a session: one JSON line per event in `.demian/transcripts/<sessionId>/session.jsonl`, in event
// order. It never stops a session: a write failure is reported once. Each line is written before the next event, so a
// crash loses none.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { CodedError, readErrno, toMessage } from "../base/coded-error.ts";
import type { RuntimeEvent } from "./events.ts";

export interface TranscriptOrder {
  /** The workspace: absolute and real. */
  root: string;
  sessionId: string;
  /** Called at most once, with text for the user. */
  onProblem(message: string): void;
}

export interface TranscriptWriter {
  /** Relative to the workspace. */
  readonly path: string;
  write(event: RuntimeEvent): void;
  /** Safe to call twice. */
  close(): void;
}

/** Partial output; the whole text follows in `model.text`, `tool.completed` and `tool.failed`. */
const LEFT_OUT: ReadonlySet<string> = new Set(["model.text.delta", "model.reasoning.delta", "tool.output"]);
const SESSION_ID = /^[A-Za-z0-9_-]{1,128}$/;
const MAX_TEXT_CHARS = 65_536;
const MAX_LINE_BYTES = 1_048_576;
const MAX_DEPTH = 16;
const MAX_ITEMS = 1000;
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;

/** Throws only for a session id that is not a valid directory name. */
export function openTranscript(order: TranscriptOrder): TranscriptWriter {
  if (!SESSION_ID.test(order.sessionId))
    throw new CodedError(
      "bad_session_id",
      `"${order.sessionId}" is not a valid session id: use A-Z, a-z, 0-9, _ and -`,
    );
  return new Transcript(order);
}

/** Relative to the workspace. */
export function getTranscriptPath(sessionId: string): string {
  return join(".demian", "transcripts", sessionId, "session.jsonl");
}

class Transcript implements TranscriptWriter {
  readonly path: string;
  readonly #onProblem: (message: string) => void;
  #file: number | undefined;
  /** A crash cut the last line: start a new one. */
  #isTorn = false;
  #hasReported = false;

  constructor({ root, sessionId, onProblem }: TranscriptOrder) {
    this.path = getTranscriptPath(sessionId);
    this.#onProblem = onProblem;
    try {
      this.#file = openSafely(root, sessionId);
      this.#isTorn = !endsWithNewline(this.#file);
    } catch (error) {
      this.#reportProblem(error);
    }
  }

  write(event: RuntimeEvent): void {
    if (this.#file === undefined || LEFT_OUT.has(event.type)) return;
    try {
      const bytes = Buffer.from(`${this.#isTorn ? "\n" : ""}${toLine(event)}\n`);
      this.#isTorn = true;
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
      this.#isTorn = false;
    } catch (error) {
      this.#reportProblem(error);
    }
  }

  close(): void {
    if (this.#file === undefined) return;
    const file = this.#file;
    this.#file = undefined;
    try {
      closeSync(file);
    } catch (error) {
      this.#reportProblem(error);
    }
  }

  #reportProblem(error: unknown): void {
    if (this.#hasReported) return;
    this.#hasReported = true;
    this.#onProblem(`the transcript ${this.path} is incomplete: ${toMessage(error)}`);
  }
}

/** Every directory on the way must be a real one: a repository must not redirect our writes with a link. */
function openSafely(root: string, sessionId: string): number {
  let directory = root;
  for (const name of [".demian", "transcripts", sessionId]) {
    directory = join(directory, name);
    makeDirectory(directory);
    if (name === "transcripts") ignoreInGit(directory);
  }
  const path = join(directory, "session.jsonl");
  const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  const stat = fstatSync(file);
  if (stat.isFile() && stat.nlink === 1 && realpathSync(path) === path) return file;
  closeSync(file);
  throw new Error(`${path} is a link or not a regular file`);
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (readErrno(error) !== "EEXIST") throw error;
  }
  if (!lstatSync(path).isDirectory()) throw new Error(`${path} is not a directory (links are not followed)`);
}

function ignoreInGit(directory: string): void {
  try {
    const file = openSync(join(directory, ".gitignore"), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    writeSync(file, "*\n");
    closeSync(file);
  } catch (error) {
    if (readErrno(error) !== "EEXIST") throw error;
  }
}

function endsWithNewline(file: number): boolean {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 0x0a);
}

function toLine(event: RuntimeEvent): string {
  const line = JSON.stringify(limitValue(event, 0));
  if (Buffer.byteLength(line) <= MAX_LINE_BYTES) return line;
  const { type, sessionId, agent, ts, rootSessionId, agentSessionId, invocationId } = event;
  const { parentInvocationId, parentCallId, agentPath } = event;
  const who = { rootSessionId, agentSessionId, invocationId, parentInvocationId, parentCallId, agentPath };
  const callId = "callId" in event ? { callId: event.callId } : {};
  const cut = `${line.length} characters omitted`;
  return JSON.stringify({ type, sessionId, ...who, agent, ts, ...callId, cut });
}

function limitValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") {
    if (value.length <= MAX_TEXT_CHARS) return value;
    const kept = value.slice(0, MAX_TEXT_CHARS).replace(/[\ud800-\udbff]$/, "");
    return `${kept} […${value.length - kept.length} more characters omitted]`;
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "[nested too deeply: omitted]";
  if (Array.isArray(value))
    return value.slice(0, MAX_ITEMS).map((item: unknown) => limitValue(item, depth + 1));
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(entries.map(([key, item]) => [key, limitValue(item, depth + 1)]));
}
