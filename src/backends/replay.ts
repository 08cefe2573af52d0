// Restores a run to the state it had in the earlier daemon: replays the agent's output since the snapshot, and repeats
// the recorded calls at the same offsets. Lines that were already written are not written again.

import { setTimeout as delay } from "node:timers/promises";
import { CodedError, toMessage } from "../base/coded-error.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { readMonotonicMs } from "../base/monotonic.ts";
import type { FoundRun } from "../base/runs/adopt.ts";
import type { RunMark } from "../base/runs/mark.ts";
import type { RecordedCall, RecordedWrite } from "../base/runs/record.ts";
import type { RunFiles } from "../base/runs/run-files.ts";
import { defined } from "../base/values.ts";
import type { UserMessage } from "../protocol/content.ts";
import type { NoticeEvent, ResultEvent } from "../protocol/events.ts";
import { toNotice } from "../protocol/notices.ts";
import type { Answer } from "../protocol/requests.ts";
import type { SettingsChange } from "../protocol/settings.ts";
import type { SinkGate } from "./sink-gate.ts";
import type { AdoptOrder, Run, ToolOutcome } from "./types.ts";

/** One session of the process. */
export interface Party {
  order: AdoptOrder;
  run: Run;
  gate: SinkGate;
  /** From now on the session receives the process's messages. */
  enter?(): void;
  /** Whether this session wrote the line. Absent: it wrote every line. */
  wrote?(message: JsonObject): boolean;
  /** Repeats what the run did on a timer. */
  repeat?(name: string, args: readonly unknown[]): void;
}

export interface ReplayParts {
  /** Of the process, which must have been connected at `replayFrom`. */
  files: RunFiles | undefined;
  parties: readonly Party[];
  /** Whether the agent may safely receive this line twice. */
  isRepeatable(line: string): boolean;
  /** What follows from this line must happen before the next one is handled. */
  isStop?(line: Buffer): boolean;
  /** Everything was repeated; what follows is new. */
  repeated?(): void;
}

interface Moment {
  at: number;
  /** Order at the same offset: sessions enter first, then calls by number; a session goes live between two calls. */
  rank: number;
  act(): void;
}

/** How long repeated calls may take to write the lines they wrote before. */
const LATE_MS = 3000;
const LOOK_MS = 2;

/** Where to start with a process that has these sessions. */
export function replayFrom({ directory, history }: FoundRun, orders: readonly AdoptOrder[]): RunMark {
  const out = Math.min(...orders.map(({ snapshot }) => snapshot.out));
  const err = Math.max(...orders.map(({ stored_err }) => stored_err));
  return { run_id: directory.id, out, err, n: history.last };
}

/** Afterwards the process is read as usual. If this throws, nothing of it is read. */
export async function replayRun(found: FoundRun, parts: ReplayParts): Promise<void> {
  const { files } = parts;
  if (files === undefined) throw new Error("the process has no files");
  try {
    await replay(found, parts, files);
  } catch (error) {
    files.detach();
    throw error;
  }
  files.start(found.description.pid);
}

async function replay(found: FoundRun, parts: ReplayParts, files: RunFiles): Promise<void> {
  const { parties, isRepeatable, isStop } = parts;
  files.startRepeating(parties.map(({ order }) => order.snapshot));
  const owned = findOwners(found.history.writes, parties);
  const uncertain = owned.filter(({ write }) => !write.isDone && !isRepeatable(write.line));
  for (const one of owned) {
    if (one.write.isDone || uncertain.includes(one)) files.expectWritten(one.write.line);
  }
  for (const { at, act } of toMoments(found, parties, files)) {
    while (files.step(at, isStop)) await settle();
    act();
    await settle();
  }
  await untilRepeated(
    owned.filter(({ write, party }) => party?.wrote !== undefined && !isRepeatable(write.line)),
    files,
  );
  parts.repeated?.();
  for (const party of new Set(uncertain.flatMap((one) => one.party ?? []))) {
    party.gate.event(uncertainNotice(party.order.backend));
  }
}

interface OwnedWrite {
  write: RecordedWrite;
  /** The session that wrote it; absent: none of those that are adopted. */
  party: Party | undefined;
}

/** Without those that a snapshot includes. */
function findOwners(writes: readonly RecordedWrite[], parties: readonly Party[]): OwnedWrite[] {
  return writes.flatMap((write) => {
    const party = parties.find(({ wrote }) => wrote === undefined || wrote(parse(write.line)));
    return party !== undefined && write.n <= party.order.snapshot.n ? [] : [{ write, party }];
  });
}

/** Waits until every recorded line has been repeated; one that came later would be sent to the agent as new. */
async function untilRepeated(vital: readonly OwnedWrite[], files: RunFiles): Promise<void> {
  const deadline = readMonotonicMs() + LATE_MS;
  while (vital.some(({ write }) => files.isExpected(write.line))) {
    if (readMonotonicMs() > deadline)
      throw new Error("the recorded calls did not write the same lines again");
    await delay(LOOK_MS);
  }
}

/** The message may have been lost; sending it again could do its work twice. */
function uncertainNotice(backend: string): NoticeEvent {
  const text =
    "the daemon was killed while sending a message, so the agent may not have received it; if there is no response, interrupt the turn and send the message again";
  return toNotice(backend, "delivery_uncertain", { level: "warn", text });
}

function toMoments({ history }: FoundRun, parties: readonly Party[], files: RunFiles): Moment[] {
  const moments = parties.flatMap((party): Moment[] => {
    const { order, run, gate, enter } = party;
    const { snapshot, session_id } = order;
    const calls = history.calls.filter((call) => call.session_id === session_id && call.n > snapshot.n);
    const liveAt = Math.max(snapshot.out, order.stored_out);
    const liveAfter = Math.max(snapshot.n, order.stored_n);
    const isFuture = ({ at, n }: RecordedCall) => at > liveAt || (at === liveAt && n > liveAfter);
    const goLive = () => gate.open(order.live(run, calls.filter(isFuture)));
    const apply = makeApply(party, files);
    return [
      { at: snapshot.out, rank: -1, act: () => enter?.() },
      { at: liveAt, rank: liveAfter + 0.5, act: goLive },
      ...calls.map((call) => ({ at: call.at, rank: call.n, act: () => apply(call) })),
    ];
  });
  return moments.sort((a, b) => a.at - b.at || a.rank - b.rank);
}

/** Results are ignored: the earlier daemon reported them, or they arrive as events. */
function makeApply({ run, order, gate, repeat }: Party, files: RunFiles): (call: RecordedCall) => void {
  return (call) => {
    const { name, args, at_ms, n } = call;
    files.noteRepeated(order.session_id, n);
    order.called(call);
    if (name === "send") {
      const [message, turn_id] = args as [UserMessage, string?];
      const agoMs = Math.max(0, readMonotonicMs() - at_ms);
      const sent = run.send(message, { agoMs, ...defined({ turn_id }) });
      // Nobody waits for it, but the turn must end.
      sent.catch((error) => gate.event(refusedResult(order.backend, error)));
    } else if (name === "answer") run.answer?.(args[0] as string, args[1] as Answer).catch(() => undefined);
    else if (name === "return_tool")
      run.returnTool?.(args[0] as string, args[1] as ToolOutcome).catch(() => undefined);
    else if (name === "interrupt") run.interrupt().catch(() => undefined);
    else if (name === "steer") run.steer?.(args[0] as UserMessage, args[1] as string);
    else if (name === "take_back") run.takeBack?.(args[0] as string);
    else if (name === "rewind") void run.rewind?.(args[0] as string[]);
    else if (name === "adjust")
      run.adjust?.(args[0] as SettingsChange, args[1] as Record<string, unknown>).catch(() => undefined);
    else repeat?.(name, args);
  };
}

function refusedResult(backend: string, error: unknown): ResultEvent {
  const code = error instanceof CodedError ? error.code : "internal";
  const failure = { code, message: toMessage(error) };
  return { type: "agent.result", backend, subtype: "error", error: failure };
}

function parse(line: string): JsonObject {
  const message: unknown = JSON.parse(line);
  return isObject(message) ? message : {};
}

/** Lets what follows from the last step happen before the next one. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
