// `demian sessions`: lists the stored conversations, and removes them.
import { realpath } from "node:fs/promises";
import { CodedError } from "../../base/coded-error.ts";
import { isPlainWord } from "../../base/shell-word.ts";
import { defined } from "../../base/values.ts";
import { formatAge } from "../../client/view/format.ts";
import { SessionStore, type StoredSession } from "../../runtime/conversations/store.ts";
import { type Arguments, UsageError } from "../command.ts";
import { formatTable } from "../output.ts";
import { findNamed } from "./choose-conversation.ts";
import type { DemianContext } from "./command.ts";
import { readOrder } from "./order.ts";

export async function runSessions(given: Arguments, context: DemianContext): Promise<number> {
  const { cwd } = readOrder(given, context.io.cwd);
  const store = new SessionStore(context.io.env);
  const isAll = given.flags["all"] === true;
  const real = await realpath(cwd).catch((cause: unknown) => {
    throw new CodedError("bad_cwd", `the working directory ${cwd} does not exist`, { cause });
  });
  const sessions = isAll ? await store.list() : await store.listIn(real);
  if (given.flags["remove"]) return remove(given.words, sessions, store, context);
  if (given.words.length > 0)
    throw new UsageError("to continue a conversation: demian --resume=ID; to remove it, add --remove");
  return list(sessions, store, given, context);
}

async function list(
  sessions: readonly StoredSession[],
  store: SessionStore,
  { flags }: Arguments,
  { output, isJson }: DemianContext,
): Promise<number> {
  if (flags["names"]) {
    for (const { id, name } of sessions)
      for (const word of [name ?? "", id]) if (word !== "" && isPlainWord(word)) await output.line(word);
    return 0;
  }
  if (isJson) {
    await output.json(sessions.map((session) => toDocument(session, store)));
    return 0;
  }
  if (sessions.length === 0) {
    const others = flags["all"] ? "" : "; --all lists those of other directories";
    output.note(`no conversations${flags["all"] ? "" : " in this directory"} yet${others}`);
    return 0;
  }
  const place = flags["all"] ? ["DIRECTORY"] : [];
  const now = Date.now();
  const rows = sessions.map((session) => [
    session.id,
    formatAge(now - Date.parse(session.updatedAt)),
    String(session.turns ?? "-"),
    store.findHolder(session.id) === undefined ? (session.source ?? "client") : "open",
    session.model || "-",
    ...(flags["all"] ? [session.cwd] : []),
    session.name ?? session.title ?? "",
  ]);
  const head = ["ID", "USED", "TURNS", "FROM", "MODEL", ...place, "NAME"];
  for (const line of formatTable([head, ...rows], output.columns)) await output.line(line);
  output.note("continue one: demian --resume=ID, or the last of a terminal: demian --continue");
  return 0;
}

/** All of them or none: a wrong name removes nothing. */
async function remove(
  words: readonly string[],
  sessions: readonly StoredSession[],
  store: SessionStore,
  { output }: DemianContext,
): Promise<number> {
  if (words.length === 0) throw new UsageError("--remove needs the id or the name of a conversation");
  const chosen = await Promise.all(words.map((word) => findNamed(word, sessions, store)));
  const open = chosen.find(({ id }) => store.findHolder(id) !== undefined);
  if (open !== undefined)
    throw new CodedError(
      "session_locked",
      `${open.id} is open in process ${store.findHolder(open.id)}; close it there first. Nothing was removed`,
    );
  for (const { id } of new Set(chosen)) {
    await store.remove(id);
    await output.line(`removed ${id}`);
  }
  return 0;
}

function toDocument(session: StoredSession, store: SessionStore): object {
  const { id, cwd, agent, provider, model, createdAt, updatedAt } = session;
  const { name, title, source = "client", agentMode, turns, costUsd } = session;
  return {
    ...{ id, cwd, source, agent, provider, model, createdAt, updatedAt },
    ...defined({ name, title, agentMode, turns, costUsd, openInProcess: store.findHolder(id) }),
  };
}
