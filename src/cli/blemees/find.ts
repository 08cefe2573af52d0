// Finds a session by its id, a prefix of it, or its name.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { HttpClient, SessionView } from "../../client/index.ts";
import { truncate } from "../bar.ts";
import { didYouMean, UsageError } from "../command.ts";

export const SESSION_ID = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i;
const SHORT = 8;
const MAX_NAMED = 10;
/** The sessions among which a similar name is looked for. */
const SUGGESTED = 1_000;

/** The minimum prefix of an id for destructive commands. */
export const CAREFUL = 4;

/** `least`: the minimum length of a prefix; names and whole ids may be shorter. */
export async function findSession(http: HttpClient, given: string, least = 1): Promise<SessionView> {
  if (SESSION_ID.test(given)) {
    try {
      return await http.session(given);
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== "session_unknown") throw error;
    }
  }
  return pickSession(await findCandidates(http, given), given, least);
}

/** Sessions of that name; if there is none, those whose id starts so; if there is none, some to suggest. */
async function findCandidates(http: HttpClient, given: string): Promise<SessionView[]> {
  const named = given === "" ? [] : await http.sessions({ name: given });
  if (named.length > 0) return named;
  const found = SESSION_ID.test(given) ? await http.sessions({ prefix: given }) : [];
  return found.length > 0 ? found : http.sessions({ limit: SUGGESTED });
}

export function pickSession(sessions: readonly SessionView[], given: string, least = 1): SessionView {
  const exact = sessions.find(({ session_id }) => session_id === given);
  if (exact !== undefined) return exact;
  const named = sessions.filter(({ name }) => name === given);
  const found = named.length > 0 ? named : sessions.filter(({ session_id }) => session_id.startsWith(given));
  const [only, ...others] = given === "" ? [] : found;
  if (only === undefined) throw unknown(sessions, given);
  if (named.length === 0 && given.length < least && only.session_id !== given)
    throw new UsageError(
      `${JSON.stringify(given)} is too short: give at least ${least} characters of the id`,
    );
  if (others.length > 0) throw ambiguous(found, given);
  return only;
}

/** The shortest unambiguous prefix of each UUID, at least 8 characters. */
export function shortenIds(ids: readonly string[]): Map<string, string> {
  // In sorted order, the id with the longest common prefix is a neighbor.
  const sorted = [...new Set(ids)].sort();
  const shorts = new Map<string, string>();
  for (const id of ids) shorts.set(id, id);
  sorted.forEach((id, at) => {
    if (!UUID.test(id)) return;
    const common = Math.max(commonLength(id, sorted[at - 1]), commonLength(id, sorted[at + 1]));
    shorts.set(id, id.slice(0, Math.max(SHORT, common + 1)));
  });
  return shorts;
}

function commonLength(id: string, other = ""): number {
  let length = 0;
  while (length < id.length && id[length] === other[length]) length += 1;
  return length;
}

/** The short id, with the name or title. */
export function describeSession({ name, session_id, title }: SessionView): string {
  const short = shortenIds([session_id]).get(session_id) ?? session_id;
  const said = name ?? title;
  return said === undefined ? short : `${short} (${truncate(sanitizeLine(said), 40)})`;
}

/** "5a01f0d8 (fixer)", or "12 sessions (…)" with the first ten. */
export function describeSessions(views: readonly SessionView[]): string {
  if (views.length === 1) return views.map(describeSession).join("");
  const named = views.slice(0, MAX_NAMED).map(describeSession).join(", ");
  const more = views.length > MAX_NAMED ? `, and ${views.length - MAX_NAMED} more` : "";
  return `${views.length} sessions (${named}${more})`;
}

function unknown(sessions: readonly SessionView[], given: string): CodedError {
  const names = sessions.flatMap(({ name, session_id }) => (name === undefined ? [session_id] : [name]));
  const hint = didYouMean(given, names) || "; `sm all` lists them";
  return new CodedError("session_unknown", `no session with the id or name ${JSON.stringify(given)}${hint}`);
}

function ambiguous(found: readonly SessionView[], given: string): CodedError {
  const shorts = shortenIds(found.map(({ session_id }) => session_id));
  const lines = found
    .slice(0, MAX_NAMED)
    .map((view) =>
      `  ${shorts.get(view.session_id)}  ${view.provider}  ${view.activity_state}  ${sanitizeLine(view.name ?? "")}`.trimEnd(),
    );
  const more = found.length > MAX_NAMED ? [`  … and ${found.length - MAX_NAMED} more`] : [];
  const text = `${JSON.stringify(given)} matches ${found.length} sessions; give more of the id:`;
  const candidates = found.map(({ session_id }) => session_id);
  return new CodedError("session_ambiguous", [text, ...lines, ...more].join("\n"), { data: { candidates } });
}
