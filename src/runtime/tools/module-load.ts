// Loads the code of a tool module: exactly the bytes that were hashed, as a URL that holds them. Nothing is read from disk
// again, so nothing can be put in its place between the look and the run; and a module has nothing to import from, but what
// Node brings.
import { errnoOf, messageOf } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";

export interface ModuleBytes {
  path: string;
  bytes: Buffer;
  sha256: string;
}

/** A module may prepare something; one that never ends would keep every session from starting. */
const LOAD_LIMIT_MS = 10_000;
/** Node resolves these from anywhere. What is built at run time is not seen here: a module is code, and was trusted. */
const FILE_IMPORT = /\b(?:from|import)\s*\(?\s*["'`]((?:file|data|blob):[^"'`]{0,80})/;
const SELF_CONTAINED =
  "a tool module holds all of its code; it may import only what comes with Node, as `node:fs`";

/** Its default export. Runs its code. Rejects with what is wrong. */
export async function loadModule({ bytes }: ModuleBytes, limitMs = LOAD_LIMIT_MS): Promise<unknown> {
  const [, address] = FILE_IMPORT.exec(bytes.toString("utf8")) ?? [];
  if (address !== undefined) throw new Error(`it imports "${address}": ${SELF_CONTAINED}`);
  hearRejections();
  const url = `data:text/javascript;base64,${bytes.toString("base64")}`;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`its code did not end within ${limitMs / 1000} s`)), limitMs);
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

/** What a module forgot to await would end the process, and with it every session: it is told instead. */
function hearRejections(): void {
  if (!process.listeners("unhandledRejection").includes(tellRejection))
    process.on("unhandledRejection", tellRejection);
}

function tellRejection(reason: unknown): void {
  process.emitWarning(`a failure that nobody waited for: ${sanitizeLine(messageOf(reason))}`, "ToolModule");
}

/** Without the address, which is the whole module. */
function explain(error: unknown): string {
  const message = messageOf(error);
  const [, specifier] = /module specifier "([^"]*)"/.exec(message) ?? [];
  if (specifier !== undefined) return `it imports "${specifier}": ${SELF_CONTAINED}`;
  if (errnoOf(error) === "ERR_UNSUPPORTED_ESM_URL_SCHEME")
    return `it imports from the network: ${SELF_CONTAINED}`;
  const line = /data:text\/javascript[^\s:]*:(\d+)/.exec(
    error instanceof Error ? (error.stack ?? "") : "",
  )?.[1];
  const shown = message.replace(/data:text\/javascript;base64,[A-Za-z0-9+/=]*/g, "the module");
  return line === undefined ? shown : `line ${line}: ${shown}`;
}
