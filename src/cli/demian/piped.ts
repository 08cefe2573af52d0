// A message, or more of it, from stdin. Somebody may have left stdin open without ever writing to it, so the first
// byte is not waited for without end.
import { CodedError } from "../../base/coded-error.ts";
import { UsageError } from "../command.ts";
import type { Io } from "./io.ts";

const MAX_BYTES = 10 * 1024 * 1024;
const NOTE_MS = 1000;
/** With a message at hand, as Claude Code does it. */
const EXTRA_WAIT_MS = 3000;
const MESSAGE_WAIT_MS = 30_000;

export interface PipedOptions {
  /** What was said by argument or flag. */
  message: string | undefined;
  /** `--stdin` */
  isPatient: boolean;
  note(text: string): void;
  warn(text: string): void;
  waits?: { extraMs: number; messageMs: number };
}

export const HOW_TO_SAY =
  'say what to do: demian "make the tests pass", --prompt TEXT, or on stdin: echo "…" | demian';

/** The whole message: what was said, then what stands on stdin. */
export async function wholeMessage(
  io: Pick<Io, "stdin" | "hasInput">,
  options: PipedOptions,
): Promise<string> {
  const { message } = options;
  const extra = io.hasInput && io.stdin.isTTY !== true ? await readPiped(io.stdin, options) : undefined;
  const parts = [message, extra].flatMap((text) =>
    text === undefined || text.trim() === "" ? [] : [text.trim()],
  );
  if (parts.length === 0) throw new UsageError(`there is no message; ${HOW_TO_SAY}`);
  return parts.join("\n\n");
}

async function readPiped(stdin: Io["stdin"], options: PipedOptions): Promise<string | undefined> {
  const { message, isPatient, waits } = options;
  const noteTimer = setTimeout(() => options.note("· reading stdin to its end"), NOTE_MS);
  const limitMs =
    message === undefined ? (waits?.messageMs ?? MESSAGE_WAIT_MS) : (waits?.extraMs ?? EXTRA_WAIT_MS);
  try {
    const isThere = isPatient || (await hasBegun(stdin, limitMs));
    if (isThere) return await readAll(stdin);
  } finally {
    clearTimeout(noteTimer);
  }
  const waited = `nothing came on stdin for ${limitMs / 1000} s`;
  const hint = "--stdin waits longer, `< /dev/null` does not wait at all";
  if (message === undefined) throw new UsageError(`${waited}; ${HOW_TO_SAY} (${hint})`);
  options.warn(`! ${waited}: going on without it (${hint})`);
  return undefined;
}

/** True as soon as there is something to read, be it the end. */
function hasBegun(stdin: Io["stdin"], limitMs: number): Promise<boolean> {
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
        `more than ${MAX_BYTES / 1024 / 1024} MiB on stdin; give demian the file's name instead and let it read`,
      );
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}
