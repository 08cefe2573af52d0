// Completion while a message is being written: what is being typed at the cursor, and the text with the choice put in.
// Shared by the terminal and the dashboard. Pure.
import { findBestMatches } from "../../base/fuzzy.ts";
import type { FoundFile } from "../../protocol/files.ts";

/** What the cursor is at the end of: `@path` after a space, or a `/command` at the start of the message. */
export interface CompletionTarget {
  kind: "file" | "command";
  /** Without the sign. */
  query: string;
  /** Where the sign is. */
  from: number;
  /** The end of the word, which the choice replaces. */
  to: number;
}

export interface CompletionOption {
  /** Replaces the word, sign included. */
  value: string;
  label: string;
  detail?: string;
  /** More may follow: a directory. */
  isOpen?: boolean;
}

/** A command that the agent reports. */
export interface AgentCommand {
  name: string;
  summary?: string;
}

const FILE_WORD = /(?:^|\s)@("[^"\n]*|[^\s"@]*)$/u;
const COMMAND_WORD = /^\/(\S*)$/u;
const MAX_QUERY = 200;

export function findCompletionTarget(text: string, cursor: number): CompletionTarget | undefined {
  const before = text.slice(0, cursor);
  const command = COMMAND_WORD.exec(before)?.[1];
  if (command !== undefined && !/^\S/u.test(text.slice(cursor))) {
    return { kind: "command", query: command, from: 0, to: cursor };
  }
  const word = FILE_WORD.exec(before)?.[1];
  if (word === undefined || word.length > MAX_QUERY) return undefined;
  const isQuoted = word.startsWith('"');
  const rest = (isQuoted ? /^[^"\n]*"?/u : /^[^\s"]*/u).exec(text.slice(cursor))?.[0] ?? "";
  // In the middle of a word, the cursor is at something that is already written.
  if (rest !== "" && !isQuoted) return undefined;
  const query = isQuoted ? word.slice(1) : word;
  return { kind: "file", query, from: cursor - word.length - 1, to: cursor + rest.length };
}

/** Paths with spaces are quoted. */
export function toFileOption({ path, is_directory }: FoundFile): CompletionOption {
  const value = /\s/u.test(path) ? `@"${path}"` : `@${path}`;
  return { value, label: path, ...(is_directory === true ? { isOpen: true } : {}) };
}

/** Those whose name matches, best first. */
export function matchCommands<T extends { name: string }>(query: string, commands: readonly T[]): T[] {
  const limit = Math.max(1, commands.length);
  const starts = commands.filter(({ name }) => name.startsWith(`/${query}`));
  if (starts.length > 0 || query === "") return starts;
  return findBestMatches(query, commands, { limit, toLower: ({ name }) => name.slice(1).toLowerCase() });
}

/** A space follows, unless more of the word may follow or one is there. */
export function applyCompletion(
  text: string,
  { from, to }: CompletionTarget,
  { value, isOpen = false }: CompletionOption,
): { text: string; cursor: number } {
  const rest = text.slice(to);
  const isQuoted = value.endsWith('"');
  // The cursor stays in the quotes of a directory.
  const put = isOpen || /^\s/u.test(rest) ? value : `${value} `;
  const cursor = from + put.length - (isOpen && isQuoted ? 1 : 0) + (!isOpen && put === value ? 1 : 0);
  return {
    text: text.slice(0, from) + put + rest,
    cursor: Math.min(cursor, from + put.length + rest.length),
  };
}
