// Parses a patch in the "*** Begin Patch" format, which many models know.
import { ToolError } from "../types.ts";

export interface PatchLine {
  kind: "context" | "delete" | "add";
  text: string;
}

/** Consecutive lines of a file, changed in one place. */
export interface PatchChunk {
  /** After `@@`: a line above the chunk. */
  header?: string;
  lines: PatchLine[];
  /** It is at the end of the file. */
  isAtEnd: boolean;
  /** Line of the patch, from 1. */
  line: number;
}

export type PatchFile =
  | { kind: "add"; path: string; line: number; content: string }
  | { kind: "delete"; path: string; line: number }
  | { kind: "update"; path: string; line: number; moveTo?: string; chunks: PatchChunk[] };

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const END_OF_FILE = "*** End of File";
const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const KINDS: Readonly<Record<string, PatchLine["kind"]>> = { " ": "context", "-": "delete", "+": "add" };
const MAX_FILES = 200;

/** Throws `bad_patch`. */
export function parsePatch(patch: string): PatchFile[] {
  const lines = patch.trim().split(/\r?\n/);
  if (lines[0]?.trim() !== BEGIN) throw patchError(1, `the first line must be "${BEGIN}"`);
  if (lines.at(-1)?.trim() !== END) throw patchError(lines.length, `the last line must be "${END}"`);
  const reader = new PatchReader(lines.slice(0, -1));
  const files = reader.read();
  if (files.length === 0) throw patchError(1, 'it names no file; add "*** Update File: PATH"');
  if (files.length > MAX_FILES)
    throw patchError(1, `it changes ${files.length} files, more than ${MAX_FILES}`);
  return files;
}

export function patchError(line: number, fault: string): ToolError {
  return new ToolError("bad_patch", `line ${line} of the patch: ${fault}; nothing was changed`);
}

class PatchReader {
  readonly #lines: readonly string[];
  /** Index of the next line; the first one is the begin mark. */
  #at = 1;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  read(): PatchFile[] {
    const files: PatchFile[] = [];
    for (let text = this.#peek(); text !== undefined; text = this.#peek()) {
      const [, verb, path = ""] = FILE.exec(text) ?? [];
      if (verb === undefined && text.trim() !== "")
        throw patchError(
          this.#at + 1,
          'expected "*** Add File: ", "*** Update File: " or "*** Delete File: "',
        );
      this.#at += 1;
      if (verb !== undefined) files.push(this.#readFile(verb, path.trim()));
    }
    return files;
  }

  #readFile(verb: string, path: string): PatchFile {
    const line = this.#at;
    if (verb === "Add") return { kind: "add", path, line, content: this.#readContent() };
    if (verb === "Delete") return { kind: "delete", path, line };
    const moveTo = MOVE.exec(this.#peek() ?? "")?.[1]?.trim();
    if (moveTo !== undefined) this.#at += 1;
    const chunks = this.#readChunks();
    if (chunks.length === 0 && moveTo === undefined) throw patchError(line, `${path} has no changes`);
    return { kind: "update", path, line, ...(moveTo === undefined ? {} : { moveTo }), chunks };
  }

  #readContent(): string {
    const content: string[] = [];
    for (let text = this.#peek(); text !== undefined && !isMark(text); text = this.#peek()) {
      if (!text.startsWith("+") && text.trim() !== "")
        throw patchError(this.#at + 1, 'each line of a new file must start with "+"');
      // A blank line between two files is not content.
      if (text.startsWith("+")) content.push(text.slice(1));
      this.#at += 1;
    }
    return content.length === 0 ? "" : `${content.join("\n")}\n`;
  }

  #readChunks(): PatchChunk[] {
    const chunks: PatchChunk[] = [];
    for (let text = this.#peek(); text !== undefined; text = this.#peek()) {
      if (isMark(text) && text.trimEnd() !== END_OF_FILE) break;
      this.#at += 1;
      const chunk = chunks.at(-1);
      if (text.startsWith("@@")) {
        const header = text.slice(2).replace(/^ /, "");
        chunks.push({ ...(isHeader(header) ? { header } : {}), lines: [], isAtEnd: false, line: this.#at });
      } else if (text.trimEnd() === END_OF_FILE) {
        if (chunk !== undefined) chunk.isAtEnd = true;
      } else if (chunk === undefined) {
        chunks.push({ lines: [this.#toLine(text)], isAtEnd: false, line: this.#at });
      } else chunk.lines.push(this.#toLine(text));
    }
    return chunks.map(trimBlankEnd).filter(({ lines }) => lines.length > 0);
  }

  #toLine(text: string): PatchLine {
    // Models leave out the space of an empty line.
    if (text === "") return { kind: "context", text: "" };
    const kind = KINDS[text[0] ?? ""];
    if (kind === undefined)
      throw patchError(this.#at, 'a line of a change must start with " ", "-", "+" or "@@"');
    return { kind, text: text.slice(1) };
  }

  #peek(): string | undefined {
    return this.#lines[this.#at];
  }
}

function isMark(text: string): boolean {
  return text.startsWith("*** ");
}

/** `@@ -1,3 +1,4 @@` and a bare `@@` name no line. */
function isHeader(header: string): boolean {
  return header.trim() !== "" && !/^-\d+(,\d+)? \+\d+(,\d+)? @@/.test(header);
}

/** Blank lines after a change separate it from the next file. */
function trimBlankEnd(chunk: PatchChunk): PatchChunk {
  const last = chunk.lines.findLastIndex(({ kind, text }) => kind !== "context" || text !== "");
  return { ...chunk, lines: chunk.lines.slice(0, last + 1) };
}
