// Finds the conversation that `--continue` or `--resume` means, and asks if it names none.
import { realpath } from "node:fs/promises";
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatAge } from "../../client/view/format.ts";
import { SessionStore, type StoredSession } from "../../runtime/conversations/store.ts";
import type { Env } from "../../runtime/state-dir.ts";
import type { PickerOption } from "../../tui/types.ts";
import { type Arguments, UsageError } from "../command.ts";

/** What the flags ask for. `words`: the message, without the conversation it names. */
export interface Wanted {
  kind: "new" | "latest" | "picked" | "named";
  /** For `named`: an id, the start of one, or a name. */
  which?: string;
  words: string[];
}

const SESSION_ID = /^ses_[A-Za-z0-9_-]{16,40}$/;
const MIN_PREFIX = 6;

/** `--resume ID` and `--resume=ID`; a word after the flag is an id if it looks like one, or the name of a conversation. */
export function readWanted({ flags, words }: Arguments, here: readonly StoredSession[]): Wanted {
  const isLatest = flags["continue"] === true;
  const resume = flags["resume"];
  if (isLatest && resume !== undefined) throw new UsageError("give --continue or --resume, not both");
  if (isLatest) return { kind: "latest", words };
  if (resume === undefined) return { kind: "new", words };
  if (typeof resume === "string") return { kind: "named", which: resume, words };
  const at = words.findIndex(
    (word, index) => SESSION_ID.test(word) || (index === 0 && here.some(({ name }) => name === word)),
  );
  if (at >= 0)
    return { kind: "named", which: words[at] ?? "", words: words.filter((_, index) => index !== at) };
  if (words.length === 0) return { kind: "picked", words };
  const hint = "to send a message, name the conversation: --resume=ID; `demian sessions` lists them";
  throw new UsageError(`no conversation "${sanitizeLine(words[0] ?? "")}" in this directory; ${hint}`);
}

/** Of this directory, the newest first. */
export async function listConversations(cwd: string, env: Env): Promise<StoredSession[]> {
  const real = await realpath(cwd).catch(() => cwd);
  return new SessionStore(env).listIn(real);
}

/** The one to continue. Throws `unknown_session`. */
export async function findConversation(
  wanted: Wanted,
  here: readonly StoredSession[],
  { env, pick }: { env: Env; pick?(options: readonly PickerOption[]): Promise<string | undefined> },
): Promise<StoredSession | undefined> {
  switch (wanted.kind) {
    case "new":
      return undefined;
    case "latest":
      return findLatest(here);
    case "named":
      return findNamed(wanted.which ?? "", here, new SessionStore(env));
    case "picked": {
      if (pick === undefined)
        throw new UsageError("--resume needs a conversation here: --resume=ID; `demian sessions` lists them");
      if (here.length === 0) throw new CodedError("unknown_session", NOTHING);
      const id = await pick(toOptions(here, new SessionStore(env), Date.now()));
      return here.find((session) => session.id === id);
    }
  }
}

const NOTHING =
  "no conversation in this directory yet; `demian sessions --all` lists those of other directories";

function findLatest(here: readonly StoredSession[]): StoredSession {
  const latest = here.find(({ source }) => source === "terminal");
  if (latest !== undefined) return latest;
  const others = "; `demian sessions` lists those of editors and blemeesd, to continue with --resume ID";
  throw new CodedError(
    "unknown_session",
    here.length === 0 ? NOTHING : `no conversation of a terminal in this directory${others}`,
  );
}

export async function findNamed(
  which: string,
  here: readonly StoredSession[],
  store: SessionStore,
): Promise<StoredSession> {
  const word = which.trim();
  const named = here.filter(({ id, name }) => id === word || name === word);
  const found =
    named.length > 0 ? named : here.filter(({ id }) => word.length >= MIN_PREFIX && id.startsWith(word));
  const [first, ...more] = found;
  if (first !== undefined && more.length === 0) return first;
  if (first !== undefined)
    throw new CodedError(
      "unknown_session",
      `${found.length} conversations match "${sanitizeLine(word)}": ${found.map(({ id }) => id).join(", ")}; name one by its id`,
    );
  const elsewhere = (await store.list()).find(({ id }) => id === word);
  if (elsewhere !== undefined)
    throw new CodedError(
      "unknown_session",
      `${word} belongs to ${elsewhere.cwd}; continue it there, or with --cwd ${elsewhere.cwd}`,
    );
  const list = "`demian sessions` lists the conversations of this directory";
  throw new CodedError("unknown_session", `no conversation "${sanitizeLine(word)}"; ${list}`);
}

/** `fix the parser  3 turns · small · 2 h` */
export function toOptions(
  sessions: readonly StoredSession[],
  store: SessionStore,
  nowMs: number,
): PickerOption[] {
  return sessions.map((session) => {
    const { id, name, title = "", model, turns = 0, updatedAt } = session;
    const holder = store.findHolder(id);
    const age = formatAge(nowMs - Date.parse(updatedAt));
    return {
      value: id,
      label: name ?? title,
      detail: [`${turns} ${turns === 1 ? "turn" : "turns"}`, model, age].join(" · "),
      ...(holder === undefined ? {} : { problem: `open in process ${holder}; close it there first` }),
    };
  });
}

export function isAboutEarlier({ flags }: Arguments): boolean {
  return flags["continue"] === true || flags["resume"] !== undefined;
}

/** Throws if the flags need a stored conversation and forbid storing one. */
export function assertStorable({ flags }: Arguments): void {
  const name = ["continue", "resume", "name"].find((flag) => flags[flag] !== undefined);
  const against = ["demo", "no-transcript"].find((flag) => flags[flag] === true);
  if (name === undefined || against === undefined) return;
  throw new UsageError(
    `--${name} needs a stored conversation, and --${against} stores none; leave one of them out`,
  );
}
