// Environment files that a command names, with quotes taken off and globs tried.
import { nestedCommands } from "../../permissions/nested-commands.ts";
import type { Word } from "../../permissions/shell-words.ts";
import { globMatcher } from "../../workspace/glob.ts";
import { isSecretPath } from "../../workspace/protected.ts";

const REDIRECTED = /[<>]\|?\s*((?:[^\s;&|()<>'"]|'[^']*'|"[^"]*")+)/g;
const NAMES = [".env", ".env.local", ".env.production", ".env.development", ".env.test"];
const MAX_GLOB = 200;
/** They print their words and open no file of that name: `echo .env >> .gitignore`. */
const PRINTERS = new Set(["echo", "printf"]);

/** The name as it stands there; undefined: there is none. */
export function findEnvFile(command: string): string | undefined {
  // What is behind a wrapper comes several times.
  const words = new Set<Word>();
  for (const one of nestedCommands(command)) {
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
  // Only globs that begin like one: `.*` in an expression is not about files.
  const last = text.slice(text.lastIndexOf("/") + 1);
  return /^\.(e|\?|\[|\{)/i.test(last) && /[*?[{]/.test(last) && fitsEnvName(last);
}

function fitsEnvName(glob: string): boolean {
  try {
    const isMatch = globMatcher(glob, { ignoreCase: true });
    return NAMES.some(isMatch);
  } catch {
    return false; // no glob after all
  }
}
