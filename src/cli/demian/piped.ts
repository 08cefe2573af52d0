// Reads a message, or more of it, from stdin. stdin may be open without ever getting data, so the wait for the first byte
// is limited.
import { CodedError } from "../../base/coded-error.ts";
import { UsageError } from "../command.ts";
import type { Io } from "./io.ts";

const MAX_BYTES = 10 * 1024 * 1024;
const NOTE_MS = 1000;
/** If there is a message already; the same as in Claude Code. */
const EXTRA_WAIT_MS = 3000;
const MESSAGE_WAIT_MS = 30_000;

export interface PipedOptions {
  /** The message from arguments or --prompt. */
  message: string | undefined;
  /** `--stdin` */
  isPatient: boolean;
  note(text: string): void;
  warn(text: string): void;
  waits?: { extraMs: number; messageMs: number };
}

export const USAGE_HINT =
  'give a message: demian "make the tests pass", --prompt TEXT, or on stdin: echo "…" | demian';

/** The given message, followed by the text on stdin. */
export async function readWholeMessage(
  io: Pick<Io, "stdin" | "hasInput">,
  options: PipedOptions,
): Promise<string> {
  const { message } = options;
  const extra = io.hasInput && io.stdin.isTTY !== true ? await readPiped(io.stdin, options) : undefined;
  const parts = [message, extra].flatMap((text) =>
    text === undefined || text.trim() === "" ? [] : [text.trim()],
  );
  if (parts.length === 0) throw new UsageError(`no message; ${USAGE_HINT}`);
  return parts.join("\n\n");
}

async function readPiped(stdin: Io["stdin"], options: PipedOptions): Promise<string | undefined> {
  const { message, isPatient, waits } = options;
  const noteTimer = setTimeout(() => options.note("· reading stdin to its end"), NOTE_MS);
  const limitMs =
    message === undefined ? (waits?.messageMs ?? MESSAGE_WAIT_MS) : (waits?.extraMs ?? EXTRA_WAIT_MS);
  try {
    const isThere = isPatient || (await waitForInput(stdin, limitMs));
    if (isThere) return await readAll(stdin);
  } finally {
    clearTimeout(noteTimer);
  }
  const waited = `no data on stdin for ${limitMs / 1000} s`;
  const hint = "--stdin waits longer, `< /dev/null` does not wait at all";
  if (message === undefined) throw new UsageError(`${waited}; ${USAGE_HINT} (${hint})`);
  options.warn(`! ${waited}; continuing without it (${hint})`);
  return undefined;
}

/** True as soon as there is data or the end of input. */
function waitForInput(stdin: Io["stdin"], limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (isThere: boolean): void => {
      clearTimeout(timer);
      stdin.removeListener("readable", onReadable);
      stdin.removeListener("end", onReadable);
      stdin.removeListener("error", onReadable);
      if (!isThere) stdin.pause();
      resolve(isThere);
    };
    const onReadable = (): void => done(true);
    const timer = setTimeout(() => done(false), limitMs);
    stdin.on("readable", onReadable);
    stdin.on("end", onReadable);
    stdin.on("error", onReadable);
  });
}

async function readAll(stdin: Io["stdin"]): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_BYTES) {
      throw new CodedError(
        "too_large",
        `more than ${MAX_BYTES / 1024 / 1024} MiB on stdin; put it into a file and name the file in the message`,
      );
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}
