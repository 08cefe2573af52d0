// What clients saw of sessions, byte by byte. Complains at once if a stream has a gap, a duplicate, or another frame
// for a known seq.
import type { Frame, RawClient } from "../support/raw-client.ts";

const HEAD = /^\{"session_id":"([^"]+)","(?:seq":(\d+)|persisted":false)/;

export class Tape {
  /** By session: the line of each seq. */
  readonly sessions = new Map<string, Map<number, string>>();
  /** Frames that came without seq, because they could not be stored. */
  unstored = 0;
  /** The faults found, in order; empty if there are none. */
  readonly faults: string[] = [];

  /** Records everything this connection gets from now on; it must get each session from one place only. */
  record(client: RawClient): void {
    const last = new Map<string, number>();
    let rest = Buffer.alloc(0);
    client.socket.on("data", (chunk: Buffer) => {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = bytes.lastIndexOf(10) + 1;
      rest = Buffer.from(bytes.subarray(end));
      for (const line of bytes.subarray(0, end).toString("utf8").split("\n")) this.#take(line, last);
    });
  }

  lastSeq(session_id: string): number {
    return Math.max(0, ...(this.sessions.get(session_id)?.keys() ?? []));
  }

  get frameCount(): number {
    let count = 0;
    for (const lines of this.sessions.values()) count += lines.size;
    return count;
  }

  #take(line: string, last: Map<string, number>): void {
    const match = HEAD.exec(line);
    if (match === null) return;
    const session_id = match[1] ?? "";
    if (match[2] === undefined) {
      this.unstored += 1;
      return;
    }
    const seq = Number(match[2]);
    const before = last.get(session_id);
    if (before !== undefined && seq !== before + 1)
      this.faults.push(`${session_id}: ${seq} behind ${before}`);
    last.set(session_id, seq);
    const lines = this.sessions.get(session_id) ?? new Map<number, string>();
    this.sessions.set(session_id, lines);
    const known = lines.get(seq);
    if (known !== undefined && known !== line) this.faults.push(`${session_id}: seq ${seq} changed`);
    lines.set(seq, line);
  }
}

/** Calls `handle` with every frame from now on, as soon as it arrives. */
export function follow(client: RawClient, handle: (frame: Frame) => void): void {
  let at = client.frames.length;
  client.socket.on("data", () => {
    for (; at < client.frames.length; at += 1) {
      const frame = client.frames[at];
      if (frame !== undefined) handle(frame);
    }
  });
}

/** From being asked to its end; an answer that never arrived is reported after it was resolved. */
const LIFE_OF_A_REQUEST =
  /^pending( expired)?( resolved| withdrawn| orphaned| resolved orphaned| resolved withdrawn)$/;

/** Faults of a whole history: frames 1..n without a hole, and each turn and each request that began ended once. */
export function historyFaults(session_id: string, lines: ReadonlyMap<number, string>): string[] {
  const faults: string[] = [];
  const started: string[] = [];
  const ended: string[] = [];
  const requests = new Map<string, string[]>();
  for (let seq = 1; seq <= lines.size; seq += 1) {
    const line = lines.get(seq);
    if (line === undefined) return [`${session_id}: seq ${seq} of ${lines.size} is missing`];
    if (line.includes('"request_id"')) noteRequest(requests, line);
    if (!line.includes('"turn_id"')) continue;
    const frame = JSON.parse(line) as { type: string; turn_id?: string; data?: { turn_id?: string } };
    if (frame.type === "agent.result") ended.push(String(frame.turn_id));
    else if (frame.data?.turn_id !== undefined) started.push(frame.data.turn_id);
  }
  for (const turn of started) {
    const count = ended.filter((id) => id === turn).length;
    if (count !== 1) faults.push(`${session_id}: turn ${turn} has ${count} results`);
  }
  for (const [request_id, states] of requests) {
    if (!LIFE_OF_A_REQUEST.test(states.join(" ")))
      faults.push(`${session_id}: ${request_id} was ${states.join(", ")}`);
  }
  if (new Set(ended).size !== ended.length) faults.push(`${session_id}: a turn ended twice`);
  return faults;
}

function noteRequest(requests: Map<string, string[]>, line: string): void {
  const { data } = JSON.parse(line) as { data?: { request?: { request_id: string; status: string } } };
  if (data?.request === undefined) return;
  const { request_id, status } = data.request;
  requests.set(request_id, [...(requests.get(request_id) ?? []), status]);
}
