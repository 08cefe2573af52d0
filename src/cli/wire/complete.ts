// Tab completion at the prompt: verbs, flags, ids seen so far, and keys of open.
import { findVerb, takesSession, VERBS } from "./verbs.ts";

/** Common keys; others are allowed too. */
const OPTION_KEYS = [
  "backend=",
  "resume=true",
  "last_seen_seq=",
  "answers=any",
  "options.cwd=",
  "options.model=",
  "options.system_prompt=",
  "options.permission_mode=",
  "options.include_partial_messages=true",
  "options.include_raw_events=true",
  "options.user_echo=true",
  "options.sandbox=",
  "options.approval-policy=",
];

const PAIRS: Record<string, readonly string[]> = {
  open: OPTION_KEYS,
  resume: OPTION_KEYS,
  watch: ["last_seen_seq="],
};
const FIRST: Record<string, readonly string[]> = {
  pretty: ["on", "off"],
  quiet: ["on", "off"],
  open: ["new"],
};

/** Ids seen so far. */
export interface KnownIds {
  sessions: readonly string[];
  requests: readonly string[];
}

/** For readline: the candidates, and the part of the line they complete. */
export function complete(line: string, ids: KnownIds): [string[], string] {
  const words = line.trimStart().split(/\s+/);
  const last = words.at(-1) ?? "";
  const candidates = words.length <= 1 ? verbNames() : forVerb(words, ids);
  return [candidates.filter((candidate) => candidate.startsWith(last)), last];
}

function verbNames(): string[] {
  return VERBS.filter((verb) => verb.where !== "shell").map((verb) => `${verb.name} `);
}

function forVerb(words: readonly string[], { sessions, requests }: KnownIds): string[] {
  const verb = findVerb(words[0] ?? "");
  if (verb === undefined) return [];
  if (verb.name === "help") return verbNames();
  const flags = (verb.flags ?? []).map(({ name }) => `--${name}`);
  const ids = verb.answer === undefined ? (takesSession(verb) ? sessions : []) : requests;
  if (words.length === 2) return [...(FIRST[verb.name] ?? []), ...ids, ...flags];
  return [...(PAIRS[verb.name] ?? []), ...flags];
}
