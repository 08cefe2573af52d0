// Builds wakes: the message to a parent about a child's result, request or stall. Pure. Ids are derived from the event,
// so they are the same after a restart.
import { cutExcerpt } from "../../base/excerpt.ts";
import { revealLine, sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import type { Action } from "../../protocol/actions.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import type { QueuedMessage } from "../../protocol/queue.ts";
import { REQUEST_TYPES, type RequestRow } from "../../protocol/requests.ts";
import type { SessionRow, Wake, WakeKind } from "../../protocol/session.ts";
import { QUOTING_INTRODUCTION, SM_HINT } from "../core/merge-wakes.ts";

const MAX_EXCERPT_CHARS = 600;
const MAX_BRIEF_LINES = 2;
const MAX_EXCERPT_LINES = 20;
const MAX_LINE_CHARS = 200;

/** Further facts about the child. */
export interface WakeFacts {
  nowMs: number;
  lastAction?: Action | undefined;
  /** The parent may answer requests below it. */
  mayAnswer?: boolean;
  /** The parent has the tools of a manager, so it needs no `sm`. */
  hasTools?: boolean;
}

/** Wording for each result. */
const ENDS: Readonly<Record<ResultEvent["subtype"], [kind: WakeKind, words: string]>> = {
  success: ["finished", "has finished its turn"],
  error: ["failed", "has failed"],
  interrupted: ["interrupted", "was interrupted"],
  max_turns: ["failed", "was stopped at its limit of turns"],
  max_budget: ["failed", "was stopped at the limit of its budget"],
};

/** A parent wants to be woken by this session. */
export function wakesParent(row: SessionRow): row is SessionRow & { parent: string } {
  return row.parent !== undefined && row.wakes_parent !== false;
}

/** Reads `row.last_result`, which already belongs to this turn. */
export function toTurnWake(row: SessionRow, result: ResultEvent, facts: WakeFacts): Wake | undefined {
  if (!wakesParent(row) || result.turn_id === undefined) return undefined;
  const [kind, words] = ENDS[result.subtype];
  const last = row.last_result?.turn_id === result.turn_id ? row.last_result : undefined;
  const error = last?.error?.message ?? result.error?.message;
  const lines = [
    ...(error === undefined ? [] : ["The error:", ...quote(error)]),
    ...(last?.text === undefined || last.text.trim() === ""
      ? []
      : ["Its last message:", ...quote(last.text)]),
  ];
  return wake(row, result.turn_id, { kind, words, lines, facts, commands: lookFurther(row) });
}

/** Deleted with its history, so there is nothing to look at. */
export function toRemovedWake(row: SessionRow, facts: WakeFacts): Wake | undefined {
  if (!wakesParent(row)) return undefined;
  const words = "was deleted before its work was done";
  return wake(row, `removed_${row.started_at_ms}`, {
    kind: "interrupted",
    words,
    lines: [],
    facts,
    commands: ["sm children"],
  });
}

/** A message that could not be delivered; no turn will report it. */
export function toInputWake(
  row: SessionRow,
  message_id: string,
  error: { code: string; message: string },
  facts: WakeFacts,
): Wake | undefined {
  if (!wakesParent(row)) return undefined;
  const lines = [`The error (${sanitizeLine(error.code)}):`, ...quote(error.message)];
  const words = "could not be given its message";
  const commands = [`sm queue ${row.session_id}`, ...lookFurther(row)];
  return wake(row, message_id, { kind: "failed", words, lines, facts, commands });
}

export function toRequestWake(row: SessionRow, request: RequestRow, facts: WakeFacts): Wake | undefined {
  if (!wakesParent(row)) return undefined;
  const { request_id, request_type, payload } = request;
  const isPermission = REQUEST_TYPES[request_type] === "permission";
  const words = isPermission ? "waits for a permission" : "waits for an answer";
  // Basis of a decision, so nothing may be disguised.
  const lines = [
    `It asks (${request_type}):`,
    `> ${cutExcerpt(revealLine(payload.title), MAX_LINE_CHARS)}`,
    ...(facts.mayAnswer === true ? [] : ["A person answers it; you may not."]),
  ];
  const answers = isPermission
    ? [`sm approve ${request_id}`, `sm decline ${request_id}`]
    : [`sm answer ${request_id} 1=TEXT`];
  const commands = [
    `sm requests ${row.session_id}`,
    ...(facts.mayAnswer === true ? answers : []),
    `sm tail ${row.session_id}`,
  ];
  const look = `agents_look ${JSON.stringify({ id: row.session_id, show: "requests" })}`;
  const answer = facts.mayAnswer === true ? [`agents_answer ${JSON.stringify({ request_id })}`] : [];
  return wake(row, request_id, { kind: "blocked", words, lines, facts, commands, tools: [look, ...answer] });
}

/** The message of the parent's queue. */
export function toWakeMessage({ wake_id, text, brief }: Wake, from: string, nowMs: number): QueuedMessage {
  return {
    message_id: wake_id,
    kind: "wake",
    message: { role: "user", content: text },
    queued_at_ms: nowMs,
    from,
    ...defined({ brief }),
  };
}

/** The `number`th stall of a turn. */
export function toStallWake(
  row: SessionRow,
  silence: { turn_id: string; number: number; silentMs: number },
  facts: WakeFacts,
): Wake | undefined {
  if (!wakesParent(row)) return undefined;
  const words = `has been silent for ${duration(silence.silentMs)} during a turn`;
  const commands = [...lookFurther(row), `sm interrupt ${row.session_id}`];
  const about = makeStallId(silence.turn_id, silence.number);
  return wake(row, about, { kind: "stalled", words, lines: [], facts, commands });
}

export function makeStallId(turn_id: string, number: number): string {
  return `${turn_id}_stall_${number}`;
}

/** `about`: the turn, request, message or stall. */
export function wakeId(child_id: string, about: string): string {
  return `wake_${child_id}_${about}`;
}

/** The inverse: what a wake of that child is about. */
export function parseWakeId(child_id: string, wake_id: string): string | undefined {
  const head = wakeId(child_id, "");
  return wake_id.startsWith(head) ? wake_id.slice(head.length) : undefined;
}

interface Words {
  kind: WakeKind;
  words: string;
  lines: readonly string[];
  facts: WakeFacts;
  commands: readonly string[];
  /** Instead of the commands, for a parent that has tools. */
  tools?: readonly string[];
}

function wake(row: SessionRow, about: string, given: Words): Wake {
  const {
    kind,
    words,
    lines,
    facts,
    tools = [`agents_look {"id":"${row.session_id}","show":"tail"}`],
  } = given;
  const commands = facts.hasTools === true ? tools : given.commands;
  const { session_id, backend, cost_usd, turns } = row;
  const name = row.name === undefined ? "" : ` ${JSON.stringify(oneLine(row.name))}`;
  const spent = cost_usd === undefined ? "" : `, $${cost_usd.toFixed(4)} so far`;
  const { lastAction } = facts;
  const what = `${name} (${session_id}, ${sanitizeLine(backend)}) ${words}. ${turns} turn(s)${spent}.`;
  const text = [
    QUOTING_INTRODUCTION,
    `Your child session${what}`,
    ...lines,
    ...(lastAction === undefined
      ? []
      : ["Its last action:", `> ${oneLine(lastAction.summary_text)} (${lastAction.status})`]),
    `For details: ${listCommands(commands)}.${facts.hasTools === true ? "" : ` ${SM_HINT}`}`,
  ].join("\n");
  const isAsking = kind === "blocked";
  // Of quoted text the heading and the first line; of a request all, as it is to be decided.
  const brief = [
    `-${what} For details: ${listCommands(isAsking ? commands : commands.slice(0, 1))}`,
    ...(isAsking ? lines : lines.slice(0, MAX_BRIEF_LINES)),
  ].join("\n");
  return { wake_id: wakeId(session_id, about), kind, at_ms: facts.nowMs, text, brief };
}

function listCommands(commands: readonly string[]): string {
  return commands.map((command) => `\`${command}\``).join(", ");
}

function lookFurther({ session_id }: SessionRow): string[] {
  return [`sm tail ${session_id}`, `sm show ${session_id}`];
}

/** Every line is marked, so that none looks like ours. */
function quote(text: string): string[] {
  const lines = sanitize(cutExcerpt(text.trim(), MAX_EXCERPT_CHARS))
    .split("\n")
    .filter((line) => line.trim() !== "");
  const shown = lines.slice(0, MAX_EXCERPT_LINES).map((line) => `> ${line}`);
  if (lines.length > shown.length) shown.push(`> […${lines.length - shown.length} lines omitted…]`);
  return shown;
}

function oneLine(text: string): string {
  return cutExcerpt(sanitizeLine(text), MAX_LINE_CHARS);
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}
