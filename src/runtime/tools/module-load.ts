// Loads a tool module from exactly the bytes that were hashed, as a data URL. Nothing is read from disk again, so the
// code cannot be swapped between check and run; a module can import only Node's own modules.
import { readErrno, toMessage } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";

export interface ModuleBytes {
  path: string;
  bytes: Buffer;
  sha256: string;
}

/** A module may initialize itself; one that never finishes would block every session. */
const LOAD_LIMIT_MS = 10_000;
/** Node resolves these from anywhere. Specifiers built at run time are not detected: a module is trusted code. */
const FILE_IMPORT = /\b(?:from|import)\s*\(?\s*["'`]((?:file|data|blob):[^"'`]{0,80})/;
const SELF_CONTAINED =
  "a tool module must be self-contained; it may import only Node's own modules, for example `node:fs`";

/** Runs the module and returns its default export. Rejects with the reason. */
export async function loadModule({ bytes }: ModuleBytes, limitMs = LOAD_LIMIT_MS): Promise<unknown> {
  const [, address] = FILE_IMPORT.exec(bytes.toString("utf8")) ?? [];
  if (address !== undefined) throw new Error(`it imports "${address}": ${SELF_CONTAINED}`);
  catchRejections();
  const url = `data:text/javascript;base64,${bytes.toString("base64")}`;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`its code did not finish within ${limitMs / 1000} s`)),
      limitMs,
    );
  });
  try {
    const loaded = (await Promise.race([import(/* @vite-ignore */ url), late])) as { default?: unknown };
    return loaded.default;
  } catch (error) {
    throw new Error(explain(error), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** A promise the module forgot to await would end the process and every session: it is reported instead. */
function catchRejections(): void {
  if (!process.listeners("unhandledRejection").includes(reportRejection))
    process.on("unhandledRejection", reportRejection);
}

function reportRejection(reason: unknown): void {
  process.emitWarning(`unhandled rejection: ${sanitizeLine(toMessage(reason))}`, "ToolModule");
}

/** Without the URL, which contains the whole module. */
function explain(error: unknown): string {
  const message = toMessage(error);
  const [, specifier] = /module specifier "([^"]*)"/.exec(message) ?? [];
  if (specifier !== undefined) return `it imports "${specifier}": ${SELF_CONTAINED}`;
  if (readErrno(error) === "ERR_UNSUPPORTED_ESM_URL_SCHEME")
    return `it imports from the network: ${SELF_CONTAINED}`;
  const line = /data:text\/javascript[^\s:]*:(\d+)/.exec(
    error instanceof Error ? (error.stack ?? "") : "",
  )?.[1];
  const shown = message.replace(/data:text\/javascript;base64,[A-Za-z0-9+/=]*/g, "the module");
  return line === undefined ? shown : `line ${line}: ${shown}`;
}
