// Commands that control a session: interrupt, stop, rm, name, queue.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { HttpClient, InputRecord, QueuedMessage, QueueReply } from "../../client/index.ts";
import { formatAge } from "../../client/view/format.ts";
import { joinText } from "../../protocol/message-text.ts";
import { truncate } from "../bar.ts";
import { defineFlag, type Flag, readTextFlag, UsageError } from "../command.ts";
import { formatTable, show } from "../output.ts";
import { ANY } from "../program.ts";
import type { BlemeesCommand } from "./command.ts";
import { CAREFUL, describeSession, findSession } from "./find.ts";

const TREE: Flag = defineFlag("--tree", "include all its descendants");

export const INTERRUPT: BlemeesCommand = {
  name: "interrupt",
  usage: "interrupt ID",
  summary: "stop the running turn; the agent keeps running",
  words: [1, 1],
  completes: "session",
  examples: ["interrupt fixer"],
  async run({ words }, context) {
    const http = await context.connect();
    const { session_id } = await findSession(http, words[0] ?? "");
    const reply = await http.interrupt(session_id);
    return show(context, reply, () => [reply.was_idle ? "no turn is running" : "interrupted"]);
  },
};

export const STOP: BlemeesCommand = {
  name: "stop",
  usage: "stop ID",
  summary: "stop the agent; history and queue are kept, and `sm send` starts it again",
  words: [1, 1],
  completes: "session",
  flags: [TREE],
  examples: ["stop manager --tree"],
  async run({ words, flags }, context) {
    const http = await context.connect();
    const { session_id } = await findSession(http, words[0] ?? "", CAREFUL);
    const stopped = await http.stop(session_id, { tree: flags["tree"] === true });
    if (stopped.length === 0 && !context.isJson) context.output.note("No agent is running");
    return show(context, { stopped }, () => stopped.map((id) => `stopped ${id}`));
  },
};

export const RM: BlemeesCommand = {
  name: "rm",
  usage: "rm ID",
  summary: "stop and delete a session with its history, queue and requests",
  words: [1, 1],
  completes: "session",
  flags: [TREE, defineFlag("-y, --yes", "do not ask for confirmation")],
  examples: ["rm fixer --yes"],
  async run({ words, flags }, context) {
    const http = await context.connect();
    const session = await findSession(http, words[0] ?? "", CAREFUL);
    const tree = flags["tree"] === true;
    if (!flags["yes"]) {
      const below = tree && session.children.length > 0 ? " and its descendants" : "";
      if (context.confirm === undefined)
        throw new UsageError(
          `rm deletes ${describeSession(session)}${below} permanently; add --yes to confirm`,
        );
      if (!(await context.confirm(`Delete ${describeSession(session)}${below} permanently?`))) return 1;
    }
    const deleted = await http.remove(session.session_id, { tree });
    return show(context, { deleted }, () => deleted.map((id) => `removed ${id}`));
  },
};

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
