// Sessions that were started outside: the agents' own transcripts, without those of our sessions. Lists are cheap with
// thousands of files: only those of the page are opened, and once each until they change.
import type { Backend, TranscriptFile, TranscriptHead } from "../../backends/types.ts";
import { CodedError } from "../../base/coded-error.ts";
import { mapBounded } from "../../base/map-bounded.ts";
import { readMonotonicMs } from "../../base/monotonic.ts";
import { defined } from "../../base/values.ts";
import type { TranscriptPage, TranscriptsReply, TranscriptView } from "../../protocol/transcripts.ts";
import type { EventView } from "../../protocol/views.ts";
import { detectProject } from "../detect-project.ts";
import type { SessionTable } from "../table.ts";
import { previewFrame } from "../views/preview.ts";
import { isProject } from "../views/view.ts";
import { readPast } from "./past.ts";
import { type PastEvent, Reading } from "./reading.ts";

export interface TranscriptFilter {
  backend?: string;
  /** A project's directory, or its name. */
  project?: string;
  active_after_ms?: number;
  active_before_ms?: number;
  /** The start of the id. */
  prefix?: string;
  limit: number;
  /** `next` of the previous page. */
  after?: string;
}

export interface TranscriptOrder {
  backend?: string;
  since_seq: number;
  limit: number;
  /** Instead: only the last `limit` events. */
  isTail: boolean;
}

/** A transcript that becomes a session. */
export interface TakenTranscript {
  session_id: string;
  cwd: string | undefined;
  model: string | undefined;
  title: string | undefined;
  path: string;
  /** Its events as frames, for the session's history. */
  past: object[];
}

/** The transcript of a backend. */
export interface FoundTranscript {
  backend: Backend;
  file: TranscriptFile;
}

type Found = FoundTranscript;

interface Listing {
  found: Found[];
  /** By backend and id. */
  holders: ReadonlyMap<string, number>;
}

export interface TranscriptFacts {
  title?: string;
  /** The project's directory. */
  project?: string;
}

/** A list is this old at most; pages and repeated filters share it. */
const LIST_MS = 2_000;
/** Files looked at together for a page, and opened at once. */
const STEP = 32;
const PARALLEL = 16;
const MANY = 500;
const MAX_HEADS = 20_000;
const MAX_PROJECTS = 2_000;
/** Transcripts that were read in part, to continue with their next page. */
const MAX_READINGS = 8;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

export class Transcripts {
  readonly #table: SessionTable;
  readonly #backends: readonly Backend[];
  readonly #heads = new Map<string, { mark: string; head: TranscriptHead | undefined }>();
  readonly #projects = new Map<string, string>();
  readonly #readings = new Map<string, Reading>();
  #listing: { atMs: number; listing: Promise<Listing> } | undefined;

  constructor(table: SessionTable, backends: readonly Backend[]) {
    this.#table = table;
    this.#backends = backends;
  }

  async list(filter: TranscriptFilter): Promise<TranscriptsReply> {
    const { limit, after } = filter;
    const place = after === undefined ? undefined : parseCursor(after);
    const { found, holders } = await this.#list();
    const wanted = filter.backend === undefined ? undefined : this.#table.backend(filter.backend).name;
    const meant = found.filter(
      ({ backend, file }) =>
        (wanted === undefined || backend.name === wanted) &&
        isMeant(file, filter) &&
        (place === undefined || compare(file, place) > 0),
    );
    const transcripts: TranscriptView[] = [];
    let last: TranscriptFile | undefined;
    for (let at = 0; at < meant.length; at += STEP) {
      const some = await this.#withoutOurs(meant.slice(at, at + STEP));
      for (const view of await mapBounded(some, PARALLEL, (one) => this.#view(one, holders))) {
        if (view === undefined) continue;
        if (filter.project !== undefined && !isProject(view.project, filter.project)) continue;
        if (transcripts.length === limit) return { transcripts, ...(last && { next: toCursor(last) }) };
        transcripts.push(view);
        last = { ...view, mtime_ms: view.last_active_at_ms, path: "", size: view.size_bytes };
      }
    }
    return { transcripts };
  }

  /** Throws `transcript_unknown`. Also those of our sessions. */
  async view(session_id: string, backend?: string): Promise<TranscriptView> {
    const found = await this.#find(session_id, backend);
    const holders = await readHolders([found.backend]);
    const view = await this.#view(found, holders);
    if (view === undefined) throw unknownError(session_id);
    return view;
  }

  /** Throws `transcript_unknown`. */
  async events(session_id: string, order: TranscriptOrder): Promise<TranscriptPage> {
    const { backend, file } = await this.#find(session_id, order.backend);
    const { since_seq, limit, isTail } = order;
    const reading = this.#takeReading(backend, file, isTail ? undefined : since_seq);
    const events: PastEvent[] = [];
    let bytes = 0;
    let first = 0;
    let isEnd = false;
    for (;;) {
      if (!isTail && (events.length === limit || bytes > MAX_PAGE_BYTES)) break;
      const next = await reading.next();
      if (next === undefined) {
        isEnd = true;
        break;
      }
      if (next.seq <= since_seq && !isTail) continue;
      events.push(next);
      bytes += next.bytes;
      while (
        isTail &&
        (events.length - first > limit || (bytes > MAX_PAGE_BYTES && events.length - first > 1))
      ) {
        bytes -= events[first]?.bytes ?? 0;
        first += 1;
      }
      if (first > limit) {
        events.splice(0, first);
        first = 0;
      }
    }
    const next_seq = reading.seq;
    const end = isEnd ? reading.end() : undefined;
    // Reading on after `end` would end the turn twice.
    if (!isEnd) this.#keepReading(reading);
    const views = events.slice(first).map((one) => toView(session_id, one.seq, one));
    if (end !== undefined) views.push(toView(session_id, null, end));
    return { events: views, next_seq, is_end: isEnd };
  }

  /** All that were started outside, newest first, without opening any. */
  async listFiles(): Promise<FoundTranscript[]> {
    const { found } = await this.#list();
    const files: Found[] = [];
    for (let at = 0; at < found.length; at += MANY)
      files.push(...(await this.#withoutOurs(found.slice(at, at + MANY))));
    return files;
  }

  /** What a list shows of it. Undefined: it is no conversation of the user, or gone. */
  async describe({ backend, file }: FoundTranscript): Promise<TranscriptFacts | undefined> {
    const head = await this.#describe(backend, file);
    if (head === undefined) return undefined;
    const project = head.cwd === undefined ? undefined : await this.#findProject(head.cwd);
    return defined({ title: head.preview, project });
  }

  /** Where the conversation is, for `spawn`. Throws `transcript_unknown`. */
  async findCwd(session_id: string, backend: string): Promise<string | undefined> {
    const { file, backend: owner } = await this.#find(session_id, backend);
    return (await this.#describe(owner, file))?.cwd;
  }

  /** Everything for a session that continues it. Throws `transcript_unknown`, `transcript_in_use`, `session_exists`. */
  async take(session_id: string, backendName: string): Promise<TakenTranscript> {
    const { backend, file } = await this.#find(session_id, backendName);
    const [own] = (await this.#listOurs([session_id])).get(makeKey(backend.name, session_id)) ?? [];
    if (own !== undefined)
      throw new CodedError("session_exists", `session ${own} has this conversation already; send to it`);
    const pid = (await readHolders([backend])).get(makeKey(backend.name, session_id));
    if (pid !== undefined)
      throw new CodedError(
        "transcript_in_use",
        `process ${pid} has this conversation open; end it there, then continue it here`,
        { data: { pid } },
      );
    const head = await this.#describe(backend, file);
    if (head === undefined) throw unknownError(session_id);
    const past = await readPast(createReading(backend, file), backend.name);
    return { session_id, cwd: head.cwd, model: head.model, title: head.preview, path: file.path, past };
  }

  #list(): Promise<Listing> {
    const nowMs = readMonotonicMs();
    if (this.#listing !== undefined && nowMs - this.#listing.atMs < LIST_MS) return this.#listing.listing;
    const listing = this.#readListing();
    this.#listing = { atMs: nowMs, listing };
    listing.catch(() => {
      if (this.#listing?.listing === listing) this.#listing = undefined;
    });
    return listing;
  }

  async #readListing(): Promise<Listing> {
    const [lists, holders] = await Promise.all([
      Promise.all(
        this.#backends.map(async (backend) =>
          ((await backend.transcripts?.list()) ?? []).map((file): Found => ({ backend, file })),
        ),
      ),
      readHolders(this.#backends),
    ]);
    return { found: lists.flat().sort((a, b) => compare(a.file, b.file)), holders };
  }

  async #find(session_id: string, backendName: string | undefined): Promise<Found> {
    const backends = backendName === undefined ? this.#backends : [this.#table.backend(backendName)];
    for (const backend of backends) {
      const file = await backend.transcripts?.find(session_id);
      if (file !== undefined) return { backend, file };
    }
    throw unknownError(session_id);
  }

  async #withoutOurs(found: readonly Found[]): Promise<Found[]> {
    const ours = await this.#listOurs(found.map(({ file }) => file.session_id));
    return found.filter(({ backend, file }) => !ours.has(makeKey(backend.name, file.session_id)));
  }

  /** Our sessions with these conversations, by backend and id of the conversation. */
  async #listOurs(ids: readonly string[]): Promise<Map<string, string[]>> {
    const [named, same] = await Promise.all([
      this.#table.select({ native_ids: [...ids] }),
      this.#table.select({ ids: [...ids] }),
    ]);
    const rows = [...named, ...same, ...[...this.#table.live.values()].map(({ row }) => row)];
    const ours = new Map<string, string[]>();
    for (const { backend, session_id, native_session_id = session_id } of rows)
      for (const id of [session_id, native_session_id]) ours.set(makeKey(backend, id), [session_id]);
    return ours;
  }

  async #view({ backend, file }: Found, holders: Listing["holders"]): Promise<TranscriptView | undefined> {
    const head = await this.#describe(backend, file);
    if (head === undefined) return undefined;
    const { cwd, model, preview } = head;
    const project = cwd === undefined ? undefined : await this.#findProject(cwd);
    return {
      session_id: file.session_id,
      backend: backend.name,
      provider: this.#table.provider(backend.name),
      ...defined({ cwd, project, model, title: preview }),
      last_active_at_ms: file.mtime_ms,
      size_bytes: file.size,
      ...defined({ open_in_pid: holders.get(makeKey(backend.name, file.session_id)) }),
    };
  }

  async #describe(backend: Backend, file: TranscriptFile): Promise<TranscriptHead | undefined> {
    const known = this.#heads.get(file.path);
    const mark = `${file.mtime_ms} ${file.size}`;
    // Transcripts only grow: what was found at the start stays.
    const isWhole = known?.head?.cwd !== undefined && known.head.preview !== undefined;
    if (known !== undefined && (isWhole || known.mark === mark)) return known.head;
    // It may have been deleted meanwhile.
    const head = await backend.transcripts?.describe(file).catch(() => undefined);
    keepBounded(this.#heads, file.path, { mark, head }, MAX_HEADS);
    return head;
  }

  async #findProject(cwd: string): Promise<string> {
    const known = this.#projects.get(cwd);
    if (known !== undefined) return known;
    const project = await detectProject(cwd);
    keepBounded(this.#projects, cwd, project, MAX_PROJECTS);
    return project;
  }

  #takeReading(backend: Backend, file: TranscriptFile, seq: number | undefined): Reading {
    const key = `${file.path} ${seq}`;
    const kept = this.#readings.get(key);
    this.#readings.delete(key);
    return kept !== undefined && kept.file.size <= file.size ? kept : createReading(backend, file);
  }

  #keepReading(reading: Reading): void {
    keepBounded(this.#readings, `${reading.file.path} ${reading.seq}`, reading, MAX_READINGS);
  }
}

export function createReading(backend: Backend, file: TranscriptFile): Reading {
  if (backend.transcripts === undefined) throw unknownError(file.session_id);
  return new Reading(file, backend.transcripts.createReader());
}

async function readHolders(backends: readonly Backend[]): Promise<Map<string, number>> {
  const all = new Map<string, number>();
  for (const { name, transcripts } of backends)
    for (const [id, pid] of (await transcripts?.holders?.()) ?? []) all.set(makeKey(name, id), pid);
  return all;
}

function toView(
  session_id: string,
  seq: number | null,
  { at_ms, event }: Pick<PastEvent, "at_ms" | "event">,
): EventView {
  const frame = { session_id, ...(seq === null ? {} : { seq }), ...event };
  return {
    session_id,
    seq,
    persisted: seq !== null,
    timestamp_ms: at_ms ?? null,
    type: event.type,
    turn_id: null,
    preview: previewFrame(frame),
    frame,
  };
}

function isMeant(file: TranscriptFile, filter: TranscriptFilter): boolean {
  const { active_after_ms, active_before_ms, prefix } = filter;
  if (active_after_ms !== undefined && file.mtime_ms < active_after_ms) return false;
  if (active_before_ms !== undefined && file.mtime_ms >= active_before_ms) return false;
  return prefix === undefined || file.session_id.startsWith(prefix);
}

type Place = Pick<TranscriptFile, "mtime_ms" | "session_id">;

/** Most recently active first. */
function compare(a: Place, b: Place): number {
  return b.mtime_ms - a.mtime_ms || (a.session_id < b.session_id ? -1 : Number(a.session_id > b.session_id));
}

function toCursor({ mtime_ms, session_id }: Place): string {
  return `${mtime_ms}.${session_id}`;
}

function parseCursor(cursor: string): Place {
  const [, mtime, session_id] = /^(\d{1,15})\.(\S{1,200})$/.exec(cursor) ?? [];
  if (session_id === undefined)
    throw new CodedError("invalid_message", "/after: not a `next` value of an earlier page");
  return { mtime_ms: Number(mtime), session_id };
}

function makeKey(backend: string, session_id: string): string {
  return `${backend}\n${session_id}`;
}

function unknownError(session_id: string): CodedError {
  return new CodedError(
    "transcript_unknown",
    `no agent has a transcript with the id ${session_id}; \`sm all --outside\` lists them`,
  );
}

/** The oldest entry makes room. */
function keepBounded<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
