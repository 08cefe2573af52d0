// What was said in conversations that were started outside, for searches. Nothing is read before somebody searches; then the
// files that are new or have changed are indexed, newest first, in small steps with pauses. The index has no texts: they are
// read from the files again.
import { toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import { readMonotonicMs } from "../../base/monotonic.ts";
import { defined } from "../../base/values.ts";
import {
  type Candidate,
  isSearched,
  readFrameText,
  type TranscriptIndex,
  type TranscriptPosition,
  type TranscriptText,
} from "../../observe/index.ts";
import { readRecord, readTime } from "./reading.ts";
import {
  createReading,
  type FoundTranscript,
  type TranscriptFacts,
  type Transcripts,
} from "./transcripts.ts";

export interface SearchIndexOptions {
  index: TranscriptIndex;
  transcripts: Pick<Transcripts, "listFiles" | "describe">;
  log: Log;
  limits?: Partial<SearchLimits>;
}

export interface SearchLimits {
  /** Of a longer file, the rest is not searched. */
  fileBytes: number;
  /** Of all files together; the newest count. */
  allBytes: number;
  /** For this long, the files are not listed again. */
  listMs: number;
}

/** A text of a transcript, and the conversation that has it. */
export interface OutsideText {
  session_id: string;
  agent: string;
  at_ms: number;
  facts: TranscriptFacts;
  texts: string[];
}

const LIMITS: SearchLimits = { fileBytes: 16 * 1024 * 1024, allBytes: 512 * 1024 * 1024, listMs: 5_000 };
/** Read at once, with a pause of twice that: a third of one core. */
const STEP_MS = 10;
const PAUSE_FACTOR = 2;
const MAX_PAUSE_MS = 1_000;

interface Wanted {
  key: string;
  found: FoundTranscript;
  /** The version of the file, as far as it is searched. */
  mark: string;
}

export class TranscriptSearch {
  readonly #options: SearchIndexOptions;
  readonly #limits: SearchLimits;
  /** By key: what the last list had. */
  #wanted = new Map<string, Wanted>();
  /** To be read, newest first. */
  #waiting = new Map<string, Wanted>();
  #listing: { atMs: number; done: Promise<void> } | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: SearchIndexOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /** Conversations that are not searched yet, or not as they are now. */
  get unindexed(): number {
    return this.#waiting.size;
  }

  /** Before a search: finds what has changed, and starts reading it. Never rejects. */
  refresh(): Promise<void> {
    const nowMs = readMonotonicMs();
    if (this.#listing === undefined || nowMs - this.#listing.atMs >= this.#limits.listMs) {
      const done = this.#refresh().catch((error: unknown) => this.#warn("search.sweep_failed", error));
      this.#listing = { atMs: nowMs, done };
    }
    return this.#listing.done;
  }

  /** Undefined if it is gone. */
  async read({ session_id: key, at = 0, role }: Candidate): Promise<OutsideText | undefined> {
    const found = this.#wanted.get(key)?.found;
    const reader = found?.backend.transcripts?.createReader();
    if (found === undefined || reader === undefined) return undefined;
    const { backend, file } = found;
    try {
      const facts = await this.#options.transcripts.describe(found);
      const record = await readRecord(file.path, at);
      if (record === undefined || facts === undefined) return undefined;
      const all = reader.read(record).flatMap(readFrameText);
      const texts = all.flatMap((one) => (one.role === role ? [one.text] : []));
      const at_ms = readTime(record) ?? file.mtime_ms;
      return { session_id: file.session_id, agent: backend.name, at_ms, facts, texts };
    } catch {
      return undefined; // deleted meanwhile
    }
  }

  close(): void {
    this.#isClosed = true;
  }

  async #refresh(): Promise<void> {
    if (this.#isClosed) return;
    const { index, transcripts } = this.#options;
    const positions = new Map((await index.positions()).map((one) => [one.key, one]));
    const wanted = this.#choose(await transcripts.listFiles());
    const changed = [...wanted.values()].filter(({ key, mark }) => positions.get(key)?.mark !== mark);
    this.#wanted = wanted;
    for (const key of positions.keys()) if (!wanted.has(key)) await index.remove(key);
    for (const one of changed) if (hasShrunk(positions.get(one.key), one)) await index.remove(one.key);
    this.#waiting = new Map(changed.map((one) => [one.key, one]));
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** The newest files that fit, each once. */
  #choose(found: readonly FoundTranscript[]): Map<string, Wanted> {
    const { fileBytes, allBytes } = this.#limits;
    const wanted = new Map<string, Wanted>();
    let bytes = 0;
    for (const one of found) {
      const { size, mtime_ms, session_id } = one.file;
      // A session's id has no slash.
      const key = `${one.backend.name}/${session_id}`;
      if (wanted.has(key)) continue;
      bytes += Math.min(size, fileBytes);
      if (bytes > allBytes) break;
      const mark = size >= fileBytes ? String(fileBytes) : `${size} ${mtime_ms}`;
      wanted.set(key, { key, found: one, mark });
    }
    return wanted;
  }

  async #run(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting.values();
      if (next === undefined || this.#isClosed) return;
      try {
        await this.#index(next);
      } catch (error) {
        // The file is gone, or the index cannot be written: the next search tries again.
        this.#warn("search.index_failed", error);
      }
      if (this.#waiting.get(next.key)?.mark === next.mark) this.#waiting.delete(next.key);
    }
  }

  async #index({ key, found, mark }: Wanted): Promise<void> {
    const { index, transcripts } = this.#options;
    const agent = found.backend.name;
    const facts = await transcripts.describe(found);
    // Remembered, so that it is not opened again.
    if (facts === undefined) return void (await index.index({ key, agent, texts: [], indexed_seq: 0, mark }));
    const about = { key, agent, ...defined({ project: facts.project }) };
    const reading = createReading(found.backend, found.file);
    for (let isMore = true; isMore && !this.#isClosed; ) {
      const beganMs = readMonotonicMs();
      const texts: TranscriptText[] = [];
      while (isMore && readMonotonicMs() - beganMs < STEP_MS) {
        const next = await reading.next();
        isMore = next !== undefined && (next.at ?? 0) < this.#limits.fileBytes;
        if (next === undefined || !isMore || next.at === undefined || !isSearched(next.event)) continue;
        const { seq, at, at_ms = found.file.mtime_ms } = next;
        for (const one of readFrameText(next.event)) texts.push({ seq, at, at_ms, ...one });
      }
      // Deleted, or continued as a session meanwhile.
      if (!this.#wanted.has(key)) return;
      await index.index({ ...about, texts, indexed_seq: reading.seq, ...(!isMore && { mark }) });
      if (isMore) await pause(PAUSE_FACTOR * (readMonotonicMs() - beganMs));
    }
  }

  #warn(event: string, error: unknown): void {
    if (!this.#isClosed) this.#options.log.warn(event, { message: toMessage(error) });
  }
}

/** It was replaced: what is indexed is gone. */
function hasShrunk(position: TranscriptPosition | undefined, { mark }: Wanted): boolean {
  return position?.mark !== undefined && Number.parseInt(position.mark, 10) > Number.parseInt(mark, 10);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(ms, MAX_PAUSE_MS)).unref());
}
