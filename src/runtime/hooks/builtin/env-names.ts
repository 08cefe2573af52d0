// Finds environment files named in a command, ignoring quotes and matching globs.
import { findNestedCommands } from "../../permissions/nested-commands.ts";
import type { Word } from "../../permissions/shell-words.ts";
import { createGlobMatcher } from "../../workspace/glob.ts";
import { isSecretPath } from "../../workspace/protected.ts";

const REDIRECTED = /[<>]\|?\s*((?:[^\s;&|()<>'"]|'[^']*'|"[^"]*")+)/g;
const NAMES = [".env", ".env.local", ".env.production", ".env.development", ".env.test", ".envrc"];
const MAX_GLOB = 200;
/** Print their arguments without opening files: `echo .env >> .gitignore`. */
const PRINTERS = new Set(["echo", "printf"]);

/** The name as written in the command. */
export function findEnvFile(command: string): string | undefined {
  // Words after a wrapper occur several times.
  const words = new Set<Word>();
  for (const one of findNestedCommands(command)) {
    if (!PRINTERS.has(one[0]?.text ?? "")) for (const word of one) words.add(word);
  }
  const files = [...command.matchAll(REDIRECTED)].map(([, file = ""]) => file.replace(/['"\\]/g, ""));
  return [...[...words].map(({ text }) => text), ...files]
    .flatMap((text) => [...text.split(/[=,:@\s'"]+/), text])
    .find(isEnvName);
}

function isEnvName(text: string): boolean {
  if (isSecretPath(text)) return true;
  if (text.length > MAX_GLOB) return false;
  // Only globs that start like one: `.*` in a regular expression is not a file.
  const last = text.slice(text.lastIndexOf("/") + 1);
  return /^\.(e|\?|\[|\{)/i.test(last) && /[*?[{]/.test(last) && matchesEnvName(last);
}

function matchesEnvName(glob: string): boolean {
  try {
    const isMatch = createGlobMatcher(glob, { ignoreCase: true });
    return NAMES.some(isMatch);
  } catch {
    return false; // Not a glob.
  }
}
