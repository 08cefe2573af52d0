// A page of a session's history after a cursor: stored frames only, from ring and store. Anything missing after the
// cursor is reported by `history_gap`.
import type { EventsPage, EventView } from "../../protocol/views.ts";
import type { LogBatch, Store } from "../../store/types.ts";
import type { EventsOrder } from "../manager-types.ts";
import type { Stream, TimedBatch } from "../stream/stream.ts";
import { previewFrame } from "./preview.ts";
import { findTurnBefore, findTurnIds } from "./turn-ids.ts";

const READ_BYTES = 256 * 1024;
/** Size limit of a page; it always has at least one frame. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Delay before a known gap is reported again: without it, a polling reader would spin. */
const KNOWN_GAP_WAIT_MS = 1_000;
const MAX_TIMER_MS = 2_147_483_647;

const LF = 0x0a;

export interface EventsSource {
  stream: Stream;
  store: Store;
}

interface StoredFrame {
  seq: number;
  at_ms: number | null;
  frame: Record<string, unknown>;
}

interface Found {
  frames: StoredFrame[];
  /** The first and last seq read; undefined if there were none. */
  first_seq: number | undefined;
  last_seq: number | undefined;
  /** Some frames between them are missing. */
  hasHole: boolean;
}

/** An aborted wait returns immediately, with what there is. */
export async function readEvents(source: EventsSource, order: EventsOrder): Promise<EventsPage> {
  await waitForFrames(source.stream, order);
  const { stream } = source;
  const { since_seq, limit } = order;
  const latest_seq = stream.last_seq;
  const isAhead = since_seq > latest_seq;
  // A reader that is ahead of the history starts over: it has seen another history.
  const cursor = isAhead ? 0 : since_seq;
  const found = await readFrames(stream, { cursor, latest_seq, limit });
  const earliest_seq = await earliestSeq(source, found.first_seq);
  const gap_reason = gapReason(stream, { since_seq, isAhead, cursor, latest_seq, earliest_seq, found });
  const page: EventsPage = {
    events: await eventViews(stream, found.frames, latest_seq),
    earliest_seq,
    latest_seq,
    next_seq: found.last_seq ?? latest_seq,
    history_gap: gap_reason !== null,
    gap_reason,
  };
  if (order.include_unpersisted === true) page.unpersisted = await lostViews(stream, cursor);
  return page;
}

/** Resolves when there are frames after the cursor, or none will come in time. */
function waitForFrames(stream: Stream, { since_seq, waitMs, signal }: EventsOrder): Promise<void> {
  if (waitMs <= 0 || stream.last_seq !== since_seq || signal?.aborted === true) return Promise.resolve();
  const longest = isLostBehind(stream, since_seq) ? KNOWN_GAP_WAIT_MS : MAX_TIMER_MS;
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      end();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(waitMs, longest));
    const end = stream.onNews(done);
    signal?.addEventListener("abort", done, { once: true });
  });
}

async function readFrames(
  stream: Stream,
  { cursor, latest_seq, limit }: { cursor: number; latest_seq: number; limit: number },
): Promise<Found> {
  const found: Found = { frames: [], first_seq: undefined, last_seq: undefined, hasHole: false };
  let read = 0;
  let bytes = 0;
  for (let at = cursor; at < latest_seq && read < limit && bytes < MAX_PAGE_BYTES; ) {
    const chunk = await stream.after(at, READ_BYTES);
    if (chunk === undefined || chunk.first_seq > latest_seq) {
      found.hasHole = true;
      break;
    }
    if (found.first_seq !== undefined && chunk.first_seq > at + 1) found.hasHole = true;
    found.first_seq ??= chunk.first_seq;
    const stampOf = makeTimeLookup(chunk);
    const last = Math.min(findLastSeq(chunk, stream), latest_seq, chunk.first_seq + limit - read - 1);
    let offset = 0;
    for (let seq = chunk.first_seq; seq <= last && bytes < MAX_PAGE_BYTES; seq += 1) {
      const end = chunk.bytes.indexOf(LF, offset);
      const frame = parseFrame(chunk.bytes, offset, end);
      if (frame === undefined) found.hasHole = true;
      else found.frames.push({ seq, at_ms: stampOf(seq), frame });
      bytes += end - offset;
      offset = end + 1;
      read += 1;
      at = seq;
    }
    found.last_seq = at;
  }
  return found;
}

/** Prefers the ring, which has times that a log may lack. */
function findLastSeq(chunk: TimedBatch | LogBatch, { ring }: Stream): number {
  const inRing = ring.firstSeq ?? 0;
  return "at_ms" in chunk || inRing <= chunk.first_seq
    ? chunk.last_seq
    : Math.min(chunk.last_seq, inRing - 1);
}

/** Requested in seq order. */
function makeTimeLookup(chunk: TimedBatch | LogBatch): (seq: number) => number | null {
  if ("at_ms" in chunk) return () => chunk.at_ms;
  const { stamps = [] } = chunk;
  let at = 0;
  return (seq) => {
    for (let next = stamps[at + 1]; next !== undefined && next.first_seq <= seq; next = stamps[at + 1])
      at += 1;
    return stamps[at]?.at_ms ?? null;
  };
}

function parseFrame(bytes: Uint8Array, start: number, end: number): Record<string, unknown> | undefined {
  try {
    const line = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined; // damaged on disk: treated as missing
  }
}

/** The ring may still have what was pruned, or be all there is. */
async function earliestSeq({ stream, store }: EventsSource, first_seq?: number): Promise<number | null> {
  const inRing = stream.ring.firstSeq;
  const inLog = await store.earliest(stream.session_id).catch((error: unknown) => {
    if (inRing === undefined) throw error;
    return undefined;
  });
  const known = [inRing, inLog, first_seq].filter((seq) => seq !== undefined);
  return known.length === 0 ? null : Math.min(...known);
}

interface Seen {
  since_seq: number;
  isAhead: boolean;
  cursor: number;
  latest_seq: number;
  earliest_seq: number | null;
  found: Found;
}

/** Prefers a reason that the seqs of the page do not show. */
function gapReason(stream: Stream, seen: Seen): EventsPage["gap_reason"] {
  const { since_seq, isAhead, cursor, earliest_seq, found } = seen;
  if (isLostBehind(stream, since_seq) || found.frames.some(isRecoveryMarker)) return "persistence_error";
  if (isAhead || found.hasHole) return "unknown";
  if (found.first_seq === undefined || found.first_seq <= cursor + 1) return null;
  return earliest_seq !== null && found.first_seq > earliest_seq ? "unknown" : "retention";
}

function isLostBehind(stream: Stream, seq: number): boolean {
  return stream.lostAfter !== undefined && stream.lostAfter >= seq;
}

/** Reports frames lost before it, also before a restart. */
function isRecoveryMarker({ frame }: StoredFrame): boolean {
  return frame["type"] === "agent.notice" && frame["category"] === "event_persist_recovered";
}

async function eventViews(
  stream: Stream,
  found: readonly StoredFrame[],
  latest_seq: number,
): Promise<EventView[]> {
  const [first] = found;
  const last = found.at(-1);
  if (first === undefined || last === undefined) return [];
  const { ids, after } = await findTurnIds(
    found.map(({ frame }) => frame),
    async () => {
      // The page matters more than the id of its first turn: if the store cannot be read further back, the id is left
      // out.
      const turn_id = await findTurnBefore(stream, first.seq).catch(() => undefined);
      // A turn longer than what was searched: the running one, if this is the newest page.
      return turn_id === undefined && last.seq === latest_seq ? stream.row.turn?.turn_id : turn_id;
    },
  );
  if (after !== undefined) stream.turnMark = { seq: last.seq, turn_id: after };
  return found.map(({ seq, at_ms, frame }, index) => ({
    session_id: stream.session_id,
    seq,
    persisted: true,
    timestamp_ms: at_ms,
    ...toPageEvent(frame, ids[index] ?? null),
  }));
}

async function lostViews(stream: Stream, cursor: number): Promise<EventView[]> {
  const lost = stream.lostSince(cursor);
  const frames = lost.map(({ line }) => JSON.parse(line) as Record<string, unknown>);
  const { turn } = stream.row;
  const isNow = turn !== undefined && (lost[0]?.at_ms ?? 0) >= turn.started_at_ms;
  const { ids } = await findTurnIds(frames, async () => (isNow ? turn.turn_id : null));
  return frames.map((frame, index) => ({
    session_id: stream.session_id,
    seq: null,
    persisted: false,
    timestamp_ms: lost[index]?.at_ms ?? null,
    ...toPageEvent(frame, ids[index] ?? null),
  }));
}

function toPageEvent(frame: Record<string, unknown>, turn_id: string | null) {
  return { type: String(frame["type"]), turn_id, preview: previewFrame(frame), frame };
}
