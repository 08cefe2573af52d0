// Reads the line of a hit through the workspace, so that nothing from outside is shown.
import type { OpenFile, Workspace } from "../workspace/types.ts";
import { isSecret } from "./guard.ts";
import { trimPartialEnd } from "./output.ts";
import { type Hit, MAX_TEXT_BYTES } from "./search.ts";
import { isBinary } from "./text.ts";

const PROBE_BYTES = 8000;
const COMPARED_BYTES = 200;
const CR = 0x0d;

export interface Claim {
  path: string;
  line: number;
  /** Offset of the first byte of the line. */
  offset: number;
  /** The expected text; may be truncated. */
  text: Buffer;
}

export class HitReader {
  readonly #workspace: Workspace;
  #path: string | undefined;
  #file: OpenFile | undefined;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Undefined: it does not exist, or may not be read. */
  async read(claim: Claim): Promise<Hit | undefined> {
    if (this.#path !== claim.path) await this.#open(claim.path);
    if (this.#file === undefined) return undefined;
    const buffer = Buffer.alloc(MAX_TEXT_BYTES + 4);
    const got = await this.#file.read(buffer, claim.offset);
    const bytes = buffer.subarray(0, got);
    // ripgrep adds CRLF to a last line without a line end.
    const reported = claim.text.at(-1) === CR ? claim.text.subarray(0, -1) : claim.text;
    const compared = reported.subarray(0, COMPARED_BYTES);
    if (!bytes.subarray(0, compared.length).equals(compared)) return undefined;
    return { path: claim.path, line: claim.line, text: formatLine(bytes) };
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
    this.#path = undefined;
  }

  async #open(path: string): Promise<void> {
    await this.close();
    this.#path = path;
    // It may be gone, or be unreadable: then it has no hits.
    const file = await this.#workspace.openFile(path).catch(() => undefined);
    if (file === undefined) return;
    const probe = Buffer.alloc(PROBE_BYTES);
    const got = await file.read(probe, 0).catch(() => 0);
    const isWanted =
      file.located.real === path && !isSecret(file.located) && !isBinary(probe.subarray(0, got));
    if (isWanted) this.#file = file;
    else await file.close();
  }
}

/** The first line of `bytes`, truncated if long. */
export function formatLine(bytes: Buffer): string {
  const end = bytes.indexOf(0x0a);
  const line = end === -1 ? bytes : bytes.subarray(0, end);
  const isLong = line.length > MAX_TEXT_BYTES;
  const text = (isLong ? trimPartialEnd(line.subarray(0, MAX_TEXT_BYTES)) : line).toString("utf8");
  return `${text.replace(/^\ufeff/, "").replace(/\r$/, "")}${isLong ? "…" : ""}`;
}
