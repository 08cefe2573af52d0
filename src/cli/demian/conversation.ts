// The stored conversation of a chat or a single message: a new one, or an earlier one that continues. It is stored as it
// grows, so that it can be continued after a crash too.
import { randomUUID } from "node:crypto";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { quoteShellWord } from "../../base/shell-word.ts";
import { defined } from "../../base/values.ts";
import { formatAge } from "../../client/view/format.ts";
import { toOneLine } from "../../runtime/context/one-line.ts";
import type { SessionMeta, SessionRecord } from "../../runtime/conversations/record.ts";
import { SessionStore, type StoredSession } from "../../runtime/conversations/store.ts";
import { checkName, makeTitle } from "../../runtime/conversations/title.ts";
import { type Message, readUserText } from "../../runtime/messages.ts";
import type { DemianSession, SessionOrder, TurnReport } from "../../runtime/session-types.ts";
import type { Env } from "../../runtime/state-dir.ts";

const RECALLED_CHARS = 200;

export class Conversation {
  readonly id: string;
  /** Before this session. */
  readonly history: readonly Message[];
  /** What it was continued with: agent, provider, model. Undefined if it is new. */
  readonly before: StoredSession | undefined;
  readonly #record: SessionRecord | undefined;
  readonly #discard: () => Promise<unknown>;
  readonly #problems: Problems;
  #closing: Promise<void> | undefined;

  private constructor(
    id: string,
    parts: { record?: SessionRecord; history?: readonly Message[]; before?: StoredSession },
    problems: Problems = new Problems(),
    discard: () => Promise<unknown> = () => Promise.resolve(),
  ) {
    this.id = id;
    this.#problems = problems;
    this.history = parts.history ?? [];
    this.before = parts.before;
    this.#record = parts.record;
    this.#discard = discard;
  }

  /** Without a trace: it cannot be continued. */
  static unstored(): Conversation {
    return new Conversation(`ses_${randomUUID()}`, {});
  }

  /** If the disk does not permit it, the conversation is not stored, which is reported. */
  static async create(env: Env, meta: Pick<SessionMeta, "cwd" | "agentMode">): Promise<Conversation> {
    const store = new SessionStore(env);
    const problems = new Problems();
    const id = store.newId();
    const now = new Date().toISOString();
    const empty = { agent: "", provider: "", model: "", createdAt: now, updatedAt: now };
    try {
      const record = await store.create(id, { ...empty, ...meta, source: "terminal" }, problems.add);
      await store.prune(Date.now()).catch(() => undefined);
      return new Conversation(id, { record }, problems, () => store.remove(id));
    } catch (error) {
      problems.add(`the conversation is not stored and cannot be continued later: ${toMessage(error)}`);
      return new Conversation(id, {}, problems);
    }
  }

  /** Throws `session_locked` while another process has it open, and `unknown_session`. */
  static resume(env: Env, before: StoredSession): Conversation {
    const problems = new Problems();
    const opened = new SessionStore(env).open(before.id, before, problems.add);
    if (opened === undefined) throw new CodedError("unknown_session", `${before.id} no longer exists`);
    const { record, history, lostLines } = opened;
    record.update({ source: "terminal" });
    if (lostLines > 0) problems.add(`${lostLines} lines of the stored conversation could not be read`);
    return new Conversation(before.id, { record, history, before }, problems);
  }

  /** Reports problems with storing it, also those so far. */
  onProblem(listener: (message: string) => void): void {
    this.#problems.listen(listener);
  }

  get name(): string | undefined {
    return this.#record?.meta.name;
  }

  /** For people: its name, or how it began. */
  get label(): string | undefined {
    return this.#record?.meta.name ?? this.#record?.meta.title;
  }

  get isStored(): boolean {
    return this.#record !== undefined;
  }

  /** For `openSession`. */
  get order(): Pick<SessionOrder, "sessionId" | "history" | "onMessage" | "onHistory"> {
    return {
      sessionId: this.id,
      ...(this.history.length === 0 ? {} : { history: this.history }),
      onMessage: (message) => this.#record?.append(message),
      onHistory: (messages) => this.#record?.rewrite(messages),
    };
  }

  /** Throws `bad_name`, and `not_stored`. */
  rename(text: string): string {
    const name = checkName(text);
    if (this.#record === undefined)
      throw new CodedError("not_stored", "this conversation is not stored, so it cannot be named");
    this.#record.update({ name });
    return name;
  }

  /** Before each message: the first one becomes the title. */
  begin(text: string, session: DemianSession): void {
    const { agent, provider, model } = session;
    const title = this.#record?.meta.title ?? makeTitle(text);
    this.#record?.update({ title, agent, provider, model });
  }

  endTurn(session: DemianSession, { usage }: Pick<TurnReport, "usage">): void {
    const record = this.#record;
    if (record === undefined) return;
    if (record.isFaulty) record.rewrite(session.history);
    const { agent, provider, model } = session;
    const costUsd =
      usage.costUsd === undefined ? record.meta.costUsd : (record.meta.costUsd ?? 0) + usage.costUsd;
    record.update({ agent, provider, model, turns: (record.meta.turns ?? 0) + 1, ...defined({ costUsd }) });
  }

  /** Safe to call twice. An empty conversation leaves nothing behind. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#record?.close();
    if (this.#record?.meta.title === undefined) await this.#discard().catch(() => undefined);
  }
}

/** For /name. */
export function renameConversation(conversation: Conversation, text: string): string {
  if (text === "") {
    const { name } = conversation;
    return name === undefined
      ? "this conversation has no name; /name NAME gives it one"
      : `its name is ${name}`;
  }
  const name = conversation.rename(text);
  return `named ${name}; continue it with: demian --resume=${quoteShellWord(name)}`;
}

/** `continuing fix the parser: 12 messages, last used 2h ago` */
export function describeContinued({ before, history, label = "" }: Conversation): string {
  const age = formatAge(Date.now() - Date.parse(before?.updatedAt ?? ""));
  const count = `${history.length} ${history.length === 1 ? "message" : "messages"}`;
  return `continuing ${sanitizeLine(label)}: ${count}, last used ${age} ago`;
}

/** For the plain chat: what the conversation was about, and how it ended. */
export function recallConversation(conversation: Conversation): string[] {
  if (conversation.before === undefined) return [];
  const asked = conversation.history.findLast(({ role }) => role === "user");
  const last = conversation.history.at(-1);
  const question = asked?.role === "user" ? readUserText(asked) : "";
  return [
    describeContinued(conversation),
    ...(question === "" ? [] : [`you: ${toOneLine(question, RECALLED_CHARS)}`]),
    ...(last?.role === "assistant" ? [`answer: ${toOneLine(last.content ?? "", RECALLED_CHARS)}`] : []),
    ...(last?.role === "tool" ? [`last: ${last.name}: ${toOneLine(last.content, RECALLED_CHARS)}`] : []),
  ];
}

/** Messages for a screen that may not be open yet. */
class Problems {
  readonly #early: string[] = [];
  #listener: ((message: string) => void) | undefined;

  readonly add = (message: string): void => {
    if (this.#listener === undefined) this.#early.push(message);
    else this.#listener(message);
  };

  listen(listener: (message: string) => void): void {
    this.#listener = listener;
    for (const message of this.#early.splice(0)) listener(message);
  }
}
