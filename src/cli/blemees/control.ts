// Commands that control a session: interrupt, stop, rm, name, queue.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type {
  HttpClient,
  InputRecord,
  InterruptReply,
  QueuedMessage,
  QueueReply,
  SessionView,
} from "../../client/index.ts";
import { formatAge } from "../../client/view/format.ts";
import { joinText } from "../../protocol/message-text.ts";
import { truncate } from "../bar.ts";
import { defineFlag, type Flag, readTextFlag, UsageError } from "../command.ts";
import { formatTable, show } from "../output.ts";
import { ANY } from "../program.ts";
import type { BlemeesCommand } from "./command.ts";
import { runOnEach } from "./each.ts";
import { CAREFUL, describeSession, describeSessions, findSession } from "./find.ts";
import { SELECTING, SELECTING_NOTES, selectSessions } from "./select.ts";

const TREE: Flag = defineFlag("--tree", "include all its descendants");

export const INTERRUPT: BlemeesCommand = {
  name: "interrupt",
  usage: "interrupt ID…",
  summary: "stop the running turn; the agent keeps running",
  words: [0, ANY],
  completes: "session",
  flags: SELECTING,
  examples: ["interrupt fixer", "interrupt --children-of manager"],
  notes: SELECTING_NOTES,
  async run(given, context) {
    const http = await context.connect();
    const { sessions, only } = await selectSessions(http, given, given.words, context);
    const act = ({ session_id }: SessionView): Promise<InterruptReply> => http.interrupt(session_id);
    const describe = ({ was_idle }: InterruptReply): string =>
      was_idle ? "no turn is running" : "interrupted";
    if (only === undefined) return runOnEach(context, sessions, { act, describe });
    const reply = await act(only);
    return show(context, reply, () => [describe(reply)]);
  },
};

export const STOP: BlemeesCommand = {
  name: "stop",
  usage: "stop ID…",
  summary: "stop the agent; history and queue are kept, and `sm send` starts it again",
  words: [0, ANY],
  completes: "session",
  flags: [TREE, ...SELECTING],
  examples: ["stop manager --tree", "stop --label nightly"],
  notes: SELECTING_NOTES,
  async run(given, context) {
    const http = await context.connect();
    const how = { least: CAREFUL, self: context.self };
    const { sessions, only } = await selectSessions(http, given, given.words, how);
    const tree = given.flags["tree"] === true;
    const act = async ({ session_id }: SessionView): Promise<{ stopped: string[] }> => ({
      stopped: await http.stop(session_id, { tree }),
    });
    if (only === undefined) {
      const describe = ({ stopped }: { stopped: string[] }): string =>
        stopped.length === 0 ? "no agent is running" : `stopped${countText(stopped)}`;
      return runOnEach(context, sessions, { act, describe });
    }
    const { stopped } = await act(only);
    if (stopped.length === 0 && !context.isJson) context.output.note("No agent is running");
    return show(context, { stopped }, () => stopped.map((id) => `stopped ${id}`));
  },
};

export const RM: BlemeesCommand = {
  name: "rm",
  usage: "rm ID…",
  summary: "stop and delete sessions with their history, queue and requests",
  words: [0, ANY],
  completes: "session",
  flags: [TREE, defineFlag("-y, --yes", "do not ask for confirmation"), ...SELECTING],
  examples: ["rm fixer --yes", "rm --label nightly"],
  notes: SELECTING_NOTES,
  async run(given, context) {
    const http = await context.connect();
    const how = { least: CAREFUL, self: context.self };
    const { sessions, only } = await selectSessions(http, given, given.words, how);
    const tree = given.flags["tree"] === true;
    if (!given.flags["yes"]) {
      const hasMore = tree && sessions.some(({ children }) => children.length > 0);
      const what = `${describeSessions(sessions)}${hasMore ? " and its descendants" : ""}`;
      if (context.confirm === undefined)
        throw new UsageError(`rm deletes ${what} permanently; add --yes to confirm`);
      if (!(await context.confirm(`Delete ${what} permanently?`))) return 1;
    }
    if (only === undefined) {
      const act = ({ session_id }: SessionView): Promise<Deleted> => removeOne(http, session_id, tree);
      const describe = ({ deleted }: Deleted): string =>
        deleted.length === 0 ? "removed with its parent" : `removed${countText(deleted)}`;
      return runOnEach(context, sessions, { act, describe });
    }
    const deleted = await http.remove(only.session_id, { tree });
    return show(context, { deleted }, () => deleted.map((id) => `removed ${id}`));
  },
};

interface Deleted {
  deleted: string[];
}

/** With `tree` it may be gone with a parent that was chosen too. */
async function removeOne(http: HttpClient, session_id: string, tree: boolean): Promise<Deleted> {
  try {
    return { deleted: await http.remove(session_id, { tree }) };
  } catch (error) {
    if (!tree || !(error instanceof CodedError) || error.code !== "session_unknown") throw error;
    return { deleted: [] };
  }
}

/** " 3 sessions", if there are more than the one that is named. */
function countText({ length }: readonly string[]): string {
  return length === 1 ? "" : ` ${length} sessions`;
}

export const NAME: BlemeesCommand = {
  name: "name",
  usage: "name ID [NAME…]",
  summary: "name a session; without NAME, remove its name",
  words: [1, ANY],
  completes: "session",
  examples: ["name 5a01f0d8 fixer"],
  async run({ words }, context) {
    const http = await context.connect();
    const { session_id } = await findSession(http, words[0] ?? "");
    const name = words.slice(1).join(" ").trim();
    const session = await http.rename(session_id, name === "" ? null : name);
    return show(context, session, () => [describeSession(session)]);
  },
};

export const QUEUE: BlemeesCommand = {
  name: "queue",
  usage: "queue ID",
  summary: "list queued messages, and the outcome of recent ones",
  words: [1, 1],
  completes: "session",
  flags: [
    defineFlag("--cancel MESSAGE", "remove a message from the queue", { completes: "message" }),
    defineFlag("--clear", "remove all queued messages"),
    defineFlag("--ids", "print only the ids of queued messages, one per line"),
  ],
  examples: ["queue fixer", "queue fixer --cancel msg_5a01f0d8", "queue fixer --clear"],
  async run(given, context) {
    const message_id = readTextFlag(given, "cancel");
    if (message_id !== undefined && given.flags["clear"])
      throw new UsageError("use --cancel or --clear, not both");
    const http = await context.connect();
    const { session_id } = await findSession(http, given.words[0] ?? "");
    if (given.flags["clear"]) {
      const cancelled = await clear(http, session_id);
      if (cancelled.length === 0 && !context.isJson) context.output.note("The queue is empty");
      return show(context, { cancelled }, () => cancelled.map((id) => `cancelled ${id}`));
    }
    if (message_id !== undefined) {
      const reply = await http.cancelInput(session_id, message_id);
      return show(context, reply, () => [`cancelled ${message_id}`]);
    }
    const queue = await http.queue(session_id);
    if (given.flags["ids"])
      return show(context, queue, () => queue.queued.map((message) => message.message_id));
    const isEmpty = queue.queued.length + queue.recent.length === 0;
    if (isEmpty && !context.isJson) context.output.note("No messages yet");
    return show(context, queue, () => (isEmpty ? [] : queueLines(queue, context.output.columns, Date.now())));
  },
};

/** Returns the ids of the cancelled messages, without those delivered in the meantime. */
async function clear(http: HttpClient, session_id: string): Promise<string[]> {
  const cancelled: string[] = [];
  for (const { message_id } of (await http.queue(session_id)).queued) {
    try {
      await http.cancelInput(session_id, message_id);
      cancelled.push(message_id);
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== "message_unknown") throw error;
    }
  }
  return cancelled;
}

/** Queued messages in delivery order, then recent ones, newest first. */
export function queueLines({ queued, recent, held }: QueueReply, columns: number, nowMs: number): string[] {
  const ago = (atMs: number): string => `${formatAge(nowMs - atMs)} ago`;
  const waiting = new Set(queued.map(({ message_id }) => message_id));
  const rows = [
    ...queued.map((item) => [
      item.message_id,
      "queued",
      senderText(item),
      ago(item.queued_at_ms),
      preview(item),
    ]),
    ...recent
      .filter(({ message_id }) => !waiting.has(message_id))
      .map((record) => [
        record.message_id,
        record.state,
        record.kind,
        ago(record.queued_at_ms),
        resultText(record),
      ]),
  ];
  return [
    ...formatTable([["MESSAGE", "STATE", "FROM", "SENT", "TEXT"], ...rows], columns),
    ...(held === undefined ? [] : [`held: ${sanitizeLine(held)}`]),
  ];
}

function senderText({ kind, from }: QueuedMessage): string {
  return from === undefined ? kind : `${kind} ${from.slice(0, 8)}`;
}

function preview({ message: { content } }: QueuedMessage): string {
  return truncate(sanitizeLine(typeof content === "string" ? content : joinText(content)), 200);
}

function resultText({ outcome, error }: InputRecord): string {
  return error?.message ?? outcome ?? "";
}
