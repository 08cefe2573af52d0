// Derives the turn of each frame. Only the first and last frame of a turn carry its id (the `task_started` notice and
// the result).
import type { Stream } from "../stream/stream.ts";

/** How many frames before a page are searched for the start of its turn: first few, then many. */
const LOOK_BACK = [128, 1024, 4096] as const;
const READ_BYTES = 256 * 1024;

type Frame = Readonly<Record<string, unknown>>;

interface Boundary {
  kind: "start" | "end";
  turn_id: string | null;
}

/** One id per frame; `before` returns the turn of the first frames if they do not contain it. */
export async function findTurnIds(
  frames: readonly Frame[],
  before: () => Promise<string | null | undefined>,
): Promise<{ ids: (string | null)[]; after: string | null | undefined }> {
  const boundaries = frames.map(findBoundary);
  const first = boundaries.find((found) => found !== undefined);
  let current = first?.kind === "end" ? first.turn_id : await before();
  const ids = boundaries.map((found) => {
    if (found === undefined) return current ?? null;
    current = found.kind === "start" ? found.turn_id : null;
    return found.turn_id;
  });
  return { ids, after: current };
}

/** The turn of frame `seq`, from the frames stored before it. Undefined if that is too far away. */
export async function findTurnBefore(stream: Stream, seq: number): Promise<string | null | undefined> {
  if (stream.turnMark?.seq === seq - 1) return stream.turnMark.turn_id;
  let end = seq;
  for (const frames of LOOK_BACK) {
    const start = Math.max(1, seq - frames);
    const found = await lastBoundary(stream, start, end);
    if (found !== undefined) return found.kind === "start" ? found.turn_id : null;
    if (start === 1) return null;
    end = start;
  }
  return undefined;
}

/** The last one among the frames from `start` up to, excluding, `end`. */
async function lastBoundary(stream: Stream, start: number, end: number): Promise<Boundary | undefined> {
  let last: Boundary | undefined;
  for (let after = start - 1; after + 1 < end; ) {
    const chunk = await stream.after(after, READ_BYTES);
    if (chunk === undefined) return last;
    const text = Buffer.from(chunk.bytes.buffer, chunk.bytes.byteOffset, chunk.bytes.length).toString("utf8");
    if (text.includes('"task_started"') || text.includes('"agent.result"')) {
      const lines = text.split("\n").slice(0, Math.max(0, end - chunk.first_seq));
      last = lastIn(lines) ?? last;
    }
    after = chunk.last_seq;
  }
  return last;
}

function lastIn(lines: readonly string[]): Boundary | undefined {
  for (const line of lines.toReversed()) {
    if (!line.includes('"task_started"') && !line.includes('"agent.result"')) continue;
    const found = findBoundary(parseFrame(line));
    if (found !== undefined) return found;
  }
  return undefined;
}

function findBoundary(frame: Frame): Boundary | undefined {
  if (frame["type"] === "agent.result") {
    return { kind: "end", turn_id: typeof frame["turn_id"] === "string" ? frame["turn_id"] : null };
  }
  if (frame["type"] !== "agent.notice" || frame["category"] !== "task_started") return undefined;
  const turn_id = (frame["data"] as Frame | undefined)?.["turn_id"];
  return typeof turn_id === "string" ? { kind: "start", turn_id } : undefined;
}

function parseFrame(line: string): Frame {
  try {
    return JSON.parse(line) as Frame;
  } catch {
    return {}; // damaged: marks nothing
  }
}
