// Which sessions a command acts on: those that are named, or those that have something in common. All of them are found
// before anything is done to one.
import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { HttpClient, SessionView } from "../../client/index.ts";
import { type Arguments, defineFlag, type Flag, readTextFlag, UsageError } from "../command.ts";
import { findSession } from "./find.ts";

export const SELECTING: readonly Flag[] = [
  defineFlag("--label LABEL", "sessions with this label; may be repeated: with all of them", {
    isMany: true,
  }),
  defineFlag("--failed", "sessions whose last turn failed, or whose agent did not start"),
  defineFlag("--children-of ID", "children of this session", { completes: "session" }),
];

export const SELECTING_NOTES: readonly string[] = [
  "Several sessions are named one after the other, or separated by commas, or chosen by flags; several flags: those that",
  "fit all of them. Archived sessions are only found by name; an agent's flags find only sessions below its own.",
  "If one name is wrong, nothing is done. Exit status: 1 if it failed for one of them; the others are done.",
];

export interface Selection {
  /** Never empty; each session once. */
  sessions: readonly SessionView[];
  /** The session, if a single one was named: then the reply is about it alone. */
  only?: SessionView;
}

export interface SelectHow {
  /** The minimum length of a prefix of an id. */
  least?: number;
  /** The session whose agent runs this program. */
  self?: string | undefined;
}

/** For commands with a text: the first word names sessions, unless they are chosen by flags. */
export function splitWords(given: Pick<Arguments, "flags" | "words">): { ids: string[]; rest: string[] } {
  if (hasSelection(given)) return { ids: [], rest: given.words };
  if (given.words.length === 0) throw noNamesError();
  return { ids: given.words.slice(0, 1), rest: given.words.slice(1) };
}

/** Throws unless every name means one session, or if no session fits the flags. */
export async function selectSessions(
  http: HttpClient,
  given: Pick<Arguments, "flags" | "many">,
  words: readonly string[],
  how: SelectHow = {},
): Promise<Selection> {
  const names = words.flatMap(splitNames);
  if (!hasSelection(given)) return selectNamed(http, names, how);
  requireOneWay(given, names);
  const sessions = await findChosen(http, given, how);
  if (sessions.length === 0)
    throw new CodedError("session_unknown", `nothing done: no session fits ${describeFlags(given)}`);
  return { sessions };
}

/** Whether sessions are chosen by flags. */
export function hasSelection({ flags }: Pick<Arguments, "flags">): boolean {
  return SELECTING.some(({ name }) => flags[name] !== undefined);
}

/** `a,b`: a name that has a comma is not found this way, but its id is. */
export function splitNames(word: string): string[] {
  const names = word.split(",").filter((name) => name !== "");
  return names.length === 0 ? [word] : names;
}

async function selectNamed(
  http: HttpClient,
  names: readonly string[],
  { least }: SelectHow,
): Promise<Selection> {
  const [first, ...others] = names;
  if (first === undefined) throw noNamesError();
  if (others.length === 0) {
    const only = await findSession(http, first, least);
    return { sessions: [only], only };
  }
  const sessions = await findAll(names, (name) => findSession(http, name, least));
  return { sessions: [...new Map(sessions.map((view) => [view.session_id, view])).values()] };
}

/** What each name means. Throws one error about all names that cannot be used. */
export async function findAll<T>(
  names: readonly string[],
  find: (name: string) => T | Promise<T>,
): Promise<T[]> {
  const found = await Promise.allSettled(names.map(async (name) => find(name)));
  const problems = found.flatMap((result, at) =>
    result.status === "rejected" ? [{ name: names[at] ?? "", error: toProblem(result.reason) }] : [],
  );
  if (problems.length > 0) throw wrongNamesError(problems, names.length);
  return found.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

/** Oldest first. */
async function findChosen(
  http: HttpClient,
  given: Pick<Arguments, "flags" | "many">,
  { self }: SelectHow,
): Promise<SessionView[]> {
  const above = readTextFlag(given, "children-of");
  const parent = above === undefined ? undefined : (await findSession(http, above)).session_id;
  const labels = given.many["label"];
  const failed = given.flags["failed"] === true || undefined;
  const found = await http.sessions({ archived: false, ...defined({ labels, parent, failed }) });
  const own = await listOwn(http, self);
  return found
    .filter(({ session_id }) => own?.has(session_id) ?? true)
    .sort((a, b) => a.started_at_ms - b.started_at_ms);
}

/** The sessions that an agent chooses from; undefined: all. */
export async function listOwn(http: HttpClient, self: string | undefined): Promise<Set<string> | undefined> {
  if (self === undefined) return undefined;
  const ids = (await http.family(self)).map(({ session }) => session.session_id);
  return new Set(ids.filter((id) => id !== self));
}

/** Anything else, such as a daemon that is gone, is not about the name. */
function toProblem(error: unknown): CodedError {
  const isAboutName = error instanceof CodedError && NAME_PROBLEMS.has(error.code);
  if (!isAboutName) throw error;
  return error;
}

const NAME_PROBLEMS: ReadonlySet<string> = new Set(["session_unknown", "session_ambiguous", "usage"]);

/** Throws if something is named and sessions are chosen by flags too. */
export function requireOneWay(given: Pick<Arguments, "flags">, names: readonly string[]): void {
  if (names.length === 0 || !hasSelection(given)) return;
  throw new UsageError("give names, or choose with --label, --failed and --children-of; not both");
}

function noNamesError(): UsageError {
  return new UsageError("name a session, or choose with --label, --failed or --children-of");
}

function wrongNamesError(
  problems: readonly { name: string; error: CodedError }[],
  count: number,
): CodedError {
  const lines = problems.map(({ error }) => `  ${error.message.replaceAll("\n", "\n  ")}`);
  const text = `nothing done: ${problems.length} of ${count} names cannot be used:`;
  const data = {
    problems: problems.map(({ name, error: { code, message, data: more } }) => ({
      name,
      code,
      message,
      ...more,
    })),
  };
  const codes = problems.map(({ error }) => error.code);
  const code = codes.find((one) => one !== "session_unknown") ?? "session_unknown";
  return new CodedError(code, [text, ...lines].join("\n"), { data });
}

/** As they were typed. */
export function describeFlags({ flags, many }: Pick<Arguments, "flags" | "many">): string {
  const above = readTextFlag({ flags }, "children-of");
  return [
    ...(many["label"] ?? []).map((label) => `--label ${label}`),
    ...(flags["failed"] === true ? ["--failed"] : []),
    ...(above === undefined ? [] : [`--children-of ${above}`]),
  ].join(" ");
}
