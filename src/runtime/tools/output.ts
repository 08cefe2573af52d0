// Long output: the model gets the beginning and the end; all of it is saved in a file that it can page through.
import { toMessage } from "../../base/coded-error.ts";
import { createKeptFile, type KeptFile } from "../workspace/kept-file.ts";
import { writeAll } from "../workspace/replace.ts";

export const MAX_OUTPUT_BYTES = 32 * 1024;
const HEAD_BYTES = 16 * 1024;
const TAIL_BYTES = 16 * 1024;
export const MAX_KEPT_BYTES = 200 * 1024 * 1024;
const PREVIEW_CHARS = 200;

export interface CappedOutput {
  content: string;
  truncated: boolean;
  /** Relative to the workspace. */
  outputFile?: string;
}

/** Where the outputs of a workspace are saved. */
export function getOutputDirectory(root: string): string {
  return `${root}/.demian/tmp`;
}

/** `keep` returns the file name. If it fails, the middle is lost, and the text says so. */
export async function capOutput(
  output: string | Buffer,
  keep: (output: string | Buffer) => Promise<string>,
): Promise<CappedOutput> {
  const bytes = typeof output === "string" ? Buffer.from(output) : output;
  if (bytes.length <= MAX_OUTPUT_BYTES) return { content: bytes.toString("utf8"), truncated: false };
  const head = bytes.subarray(0, HEAD_BYTES);
  const tail = bytes.subarray(bytes.length - TAIL_BYTES);
  try {
    const outputFile = await keep(output);
    const content = joinCut(head, tail, bytes.length, `the full output is in ${outputFile}`);
    return { content, truncated: true, outputFile };
  } catch (error) {
    const note = `the full output could not be saved: ${toMessage(error)}`;
    return { content: joinCut(head, tail, bytes.length, note), truncated: true };
  }
}

/** Saves a whole output; returns its path relative to the workspace. Throws `cannot_keep`. */
export async function keepOutput(order: CollectorOrder, output: string | Buffer): Promise<string> {
  const kept = createKeptFile(order.directory, toFileStem(order.callId), ".txt");
  try {
    writeAll(kept.fd, typeof output === "string" ? Buffer.from(output) : output);
    return kept.path;
  } finally {
    kept.close();
  }
}

export interface CollectorOrder {
  /** `outputDirectory(workspace.root)` */
  directory: string;
  callId: string;
  maxKeptBytes?: number;
}

/** Collects output as it arrives, at most 64 KB of it in memory. Call `finish` always, also after an abort. */
export class OutputCollector {
  readonly #order: CollectorOrder;
  readonly #maxKeptBytes: number;
  /** Everything, until it is too long; then only the head. */
  #head: Buffer[] = [];
  #headBytes = 0;
  readonly #tail = new Tail(TAIL_BYTES);
  #totalBytes = 0;
  #keptBytes = 0;
  #kept: KeptFile | undefined;
  /** Why the file is missing or incomplete. */
  #fault: string | undefined;
  #isFinished = false;

  constructor(order: CollectorOrder) {
    this.#order = order;
    this.#maxKeptBytes = order.maxKeptBytes ?? MAX_KEPT_BYTES;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  push(chunk: Buffer): void {
    const before = this.#totalBytes;
    this.#totalBytes += chunk.length;
    if (this.#totalBytes > MAX_OUTPUT_BYTES && before <= MAX_OUTPUT_BYTES) this.#spill();
    this.#keep(chunk);
    const room = MAX_OUTPUT_BYTES - this.#headBytes;
    if (room > 0) {
      const part = Buffer.from(chunk.subarray(0, room));
      this.#head.push(part);
      this.#headBytes += part.length;
    }
    this.#tail.push(chunk);
  }

  async finish(): Promise<CappedOutput> {
    if (!this.#isFinished) this.#kept?.close();
    this.#isFinished = true;
    const head = Buffer.concat(this.#head);
    if (this.#totalBytes <= MAX_OUTPUT_BYTES) return { content: head.toString("utf8"), truncated: false };
    const note = this.#fault ?? `the full output is in ${this.#kept?.path}`;
    const content = joinCut(head.subarray(0, HEAD_BYTES), this.#tail.toBytes(), this.#totalBytes, note);
    return { content, truncated: true, ...(this.#kept === undefined ? {} : { outputFile: this.#kept.path }) };
  }

  #spill(): void {
    try {
      this.#kept = createKeptFile(this.#order.directory, toFileStem(this.#order.callId), ".txt");
    } catch (error) {
      this.#fault = `the full output could not be saved: ${toMessage(error)}`;
    }
    for (const part of this.#head) this.#keep(part);
  }

  #keep(chunk: Buffer): void {
    if (this.#kept === undefined || this.#fault !== undefined || this.#isFinished) return;
    const part = chunk.subarray(0, this.#maxKeptBytes - this.#keptBytes);
    try {
      writeAll(this.#kept.fd, part);
      this.#keptBytes += part.length;
      if (part.length < chunk.length) this.#fault = this.#explainCut("it is too long");
    } catch (error) {
      this.#fault = this.#explainCut(toMessage(error));
    }
  }

  #explainCut(why: string): string {
    return `only the first ${this.#keptBytes} bytes are in ${this.#kept?.path}: ${why}`;
  }
}

/** The last bytes of a stream, in a ring buffer. */
export class Tail {
  readonly #ring: Buffer;
  #total = 0;

  constructor(maxBytes: number) {
    this.#ring = Buffer.alloc(maxBytes);
  }

  push(chunk: Buffer): void {
    const size = this.#ring.length;
    const part = chunk.subarray(Math.max(0, chunk.length - size));
    this.#total += chunk.length;
    const start = (this.#total - part.length) % size;
    const copied = part.copy(this.#ring, start);
    part.copy(this.#ring, 0, copied);
  }

  toBytes(): Buffer {
    const split = this.#total % this.#ring.length;
    if (this.#total < this.#ring.length) return this.#ring.subarray(0, split);
    return Buffer.concat([this.#ring.subarray(split), this.#ring.subarray(0, split)]);
  }
}

function joinCut(head: Buffer, tail: Buffer, totalBytes: number, note: string): string {
  const start = trimPartialEnd(head);
  const end = trimPartialStart(tail);
  const left = totalBytes - start.length - end.length;
  return `${start.toString("utf8")}\n\n[… ${left} of ${totalBytes} bytes left out; ${note} …]\n\n${end.toString("utf8")}`;
}

/** Drops a partial UTF-8 character at the end. */
export function trimPartialEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= 4 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** Drops a partial UTF-8 character at the beginning. */
export function trimPartialStart(bytes: Buffer): Buffer {
  let skip = 0;
  while (skip < 3 && ((bytes[skip] ?? 0) & 0xc0) === 0x80) skip += 1;
  return bytes.subarray(skip);
}

/** Call ids come from models: unusual characters must not reach the file system. */
function toFileStem(callId: string): string {
  return `output-${callId.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 100)}`;
}

/** The start of a tool's result, for events. */
export function toPreview(content: string): string {
  return content.length <= PREVIEW_CHARS ? content : `${content.slice(0, PREVIEW_CHARS)}…`;
}
