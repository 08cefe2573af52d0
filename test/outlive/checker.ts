// Checks what became of a session whose daemons were killed: everything once and in order, nothing lost or changed. Pure:
// it looks only at what was sent, what clients saw, and the stored history.
import type { Answer, RequestRow } from "../../src/protocol/requests.ts";
import { decisionOf } from "./decision.ts";
import type { Kind, Script } from "./kinds.ts";

export type Frame = Record<string, unknown> & { type: string };

export interface Sent {
  message_id: string;
  script: Script;
}

/** All that is known of one session. */
export interface Testimony {
  name: string;
  kind: Pick<Kind, "prompt" | "text" | "effects">;
  /** In the order in which they were accepted. */
  sent: readonly Sent[];
  /** By label of the message whose turn asked. */
  answers: ReadonlyMap<string, Answer>;
  /** What a client saw: by seq, as JSON. */
  seen: ReadonlyMap<number, string>;
  /** The stored frames, in order. */
  history: readonly Frame[];
}

interface Turn {
  turn_id: string;
  message_id: string;
  prompt: string;
  frames: Frame[];
}

/** Faults that are listed for each text. */
const MAX_WORDS = 4;

export function findFaults(testimony: Testimony): string[] {
  const { name, sent, history } = testimony;
  const { turns, outside } = splitTurns(history);
  const faults = [...findHistoryFaults(testimony), ...findOrderFaults(testimony, turns)];
  for (const frame of outside) {
    if (
      frame.type.startsWith("agent.") &&
      frame.type !== "agent.notice" &&
      frame.type !== "agent.system_init"
    )
      faults.push(`${String(frame["seq"])}: ${frame.type} outside of a turn`);
  }
  for (const turn of turns) {
    const script = sent.find(({ message_id }) => message_id === turn.message_id)?.script;
    if (script === undefined) continue;
    faults.push(...findTurnFaults(testimony, turn, script).map((fault) => `${script.label}: ${fault}`));
  }
  faults.push(...findRequestFaults(history), ...findEffectFaults(testimony));
  return faults.map((fault) => `${name}: ${fault}`);
}

/** Seqs from 1 without a hole, and every frame as the client saw it. */
function findHistoryFaults({ history, seen }: Testimony): string[] {
  const faults: string[] = [];
  for (const [at, { seq }] of history.entries()) {
    if (seq !== at + 1) faults.push(`seq ${String(seq)} at place ${at + 1}`);
  }
  for (const [seq, line] of seen) {
    const stored = history[seq - 1];
    if (stored === undefined) faults.push(`seq ${seq} was seen and is lost: ${line}`);
    else if (JSON.stringify(stored) !== line) faults.push(`seq ${seq} was seen and has changed: ${line}`);
  }
  if (seen.size !== history.length)
    faults.push(`${history.length} frames are stored, ${seen.size} were seen`);
  return faults;
}

/** Every message delivered once, in the order of the queue. */
function findOrderFaults({ kind, sent }: Testimony, turns: readonly Turn[]): string[] {
  const wanted = sent.map(({ script }) => kind.prompt(script));
  const ids = sent.map(({ message_id }) => message_id);
  return [
    ...compareWords(
      ids,
      turns.map(({ message_id }) => message_id),
    ).map((fault) => `message ${fault}`),
    ...turns.flatMap(({ message_id, prompt }) => {
      const was = wanted[ids.indexOf(message_id)];
      return was === undefined || was === prompt ? [] : [`message ${message_id} was delivered as ${prompt}`];
    }),
  ];
}

function findTurnFaults({ kind, answers }: Testimony, { turn_id, frames }: Turn, script: Script): string[] {
  const faults: string[] = [];
  const started = frames.filter((frame) => frame["category"] === "task_started");
  if (started.length !== 1) faults.push(`the turn started ${started.length} times`);
  const results = frames.filter((frame) => frame.type === "agent.result");
  if (results.length !== 1) faults.push(`${results.length} results`);
  for (const result of results) {
    if (result["turn_id"] !== turn_id) faults.push("the result of another turn");
    if (result["subtype"] !== "success" || result["error"] !== undefined)
      faults.push(`ended with ${JSON.stringify(result)}`);
  }
  const answer = answers.get(script.label);
  if (script.asks && answer === undefined) faults.push("its request was never answered");
  const text = kind.text(script, answer);
  const deltas = frames.filter((frame) => frame.type === "agent.delta" && frame["kind"] === "text");
  faults.push(...compareTexts(text, deltas.map((frame) => String(frame["text"])).join("")));
  const messages = frames
    .filter((frame) => frame.type === "agent.message")
    .map(textOf)
    .join("");
  faults.push(...compareTexts(text, messages).map((fault) => `in its messages: ${fault}`));
  const requests = frames.filter((frame) => frame["category"] === "request_pending");
  if (requests.length !== (script.asks ? 1 : 0)) faults.push(`asked ${requests.length} times`);
  const uses = frames.filter((frame) => frame.type === "agent.tool_use").map(idOf);
  const ends = frames.filter((frame) => frame.type === "agent.tool_result").map(idOf);
  faults.push(...compareWords(uses, ends).map((fault) => `result of the tool ${fault}`));
  faults.push(...findTwice(uses).map((id) => `tool ${id} twice`));
  for (const { answer: told } of frames.flatMap((frame) => readRequest(frame, "resolved")))
    if (decisionOf(told) !== decisionOf(answer))
      faults.push(`the answer was ${JSON.stringify(answer)}, stored is ${JSON.stringify(told)}`);
  return faults;
}

/** Every request is shown once and answered once; none is withdrawn or orphaned. */
function findRequestFaults(history: readonly Frame[]): string[] {
  const states = new Map<string, string[]>();
  for (const { request_id, status } of history.flatMap((frame) => readRequest(frame)))
    states.set(request_id, [...(states.get(request_id) ?? []), status]);
  return [...states].flatMap(([request_id, all]) =>
    all.join(" ") === "pending resolved" ? [] : [`${request_id} was ${all.join(", ")}`],
  );
}

/** What was accepted was done once, in order; nothing else was. */
function findEffectFaults({ name, kind, sent, answers }: Testimony): string[] {
  const done = kind.effects?.(name);
  if (done === undefined) return [];
  const labels = sent.map(({ script }) => script.label);
  const wanted = labels.filter((label) => decisionOf(answers.get(label)) === "accept");
  return compareWords(wanted, done).map((fault) => `effect of ${fault}`);
}

function splitTurns(history: readonly Frame[]): { turns: Turn[]; outside: Frame[] } {
  const turns: Turn[] = [];
  const outside: Frame[] = [];
  let open: Turn | undefined;
  for (const frame of history) {
    if (frame["category"] === "input_delivered") {
      const { turn_id, message_id } = frame["data"] as { turn_id: string; message_id: string };
      open = { turn_id, message_id, prompt: String(frame["text"]), frames: [] };
      turns.push(open);
    } else if (open === undefined) outside.push(frame);
    else open.frames.push(frame);
    if (frame.type === "agent.result") open = undefined;
  }
  return { turns, outside };
}

function readRequest(frame: Frame, status?: string): RequestRow[] {
  const { request } = (frame["data"] ?? {}) as { request?: RequestRow };
  return request === undefined || (status !== undefined && request.status !== status) ? [] : [request];
}

function textOf(frame: Frame): string {
  const blocks = frame["content"] as { type: string; text?: string }[];
  return blocks.map(({ text = "" }) => text).join("");
}

function idOf(frame: Frame): string {
  return String(frame["tool_use_id"]);
}

function compareTexts(wanted: string, found: string): string[] {
  if (wanted === found) return [];
  const faults = compareWords(wanted.split(/\s+/), found.split(/\s+/));
  if (faults.length === 0) return [`"${found}" instead of "${wanted}"`];
  const rest = faults.length - MAX_WORDS;
  return rest <= 0 ? faults : [...faults.slice(0, MAX_WORDS), `and ${rest} more`];
}

/** What is missing, too often, or in another order. Words may occur several times. */
export function compareWords(wanted: readonly string[], found: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  const faults: string[] = [];
  for (const word of found) {
    const count = left.get(word);
    left.set(word, (count ?? 0) - 1);
    if (count === undefined) faults.push(`${word} unexpected`);
    else if (count <= 0) faults.push(`${word} once too often`);
  }
  for (const [word, count] of left) if (count > 0) faults.push(`${word} missing`);
  if (faults.length > 0) return faults;
  const at = wanted.findIndex((word, place) => found[place] !== word);
  return at === -1 ? [] : [`${String(found[at])} out of order`];
}

function findTwice(ids: readonly string[]): string[] {
  return ids.filter((id, at) => ids.indexOf(id) !== at);
}
