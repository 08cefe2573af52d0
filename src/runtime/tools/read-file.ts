// read_file: returns the numbered lines of a text file, a page at a time.
import * as z from "zod";
import { defineTool } from "./define.ts";
import { checkReadable, checkSamePath, formatTitle, toPathTarget } from "./guard.ts";
import { type Page, readPage } from "./page.ts";
import { createBinaryError } from "./text.ts";
import { ToolError } from "./types.ts";

const MAX_WHOLE_BYTES = 1024 * 1024;
const MAX_LINES = 2000;
/** Limit of one page; 2000 lines of code are well below it. */
const MAX_PAGE_BYTES = 256 * 1024;

const Input = z.strictObject({
  path: z.string().min(1).describe("Path relative to the working directory, or absolute within it."),
  offset: z.int().min(1).optional().describe("First line to read, from 1."),
  limit: z.int().min(1).max(MAX_LINES).optional().describe(`Number of lines to read (default ${MAX_LINES}).`),
});

export const readFileTool = defineTool({
  name: "read_file",
  description:
    "Reads a text file. Lines are numbered; the number and the tab before each line are not part of the file. " +
    `Returns up to ${MAX_LINES} lines; use offset and limit to page. Files over 1 MB need offset and limit.`,
  input: Input,
  metadata: { sideEffect: "none", defaultDecision: "allow" },
  async plan({ path }, { workspace }) {
    const located = await workspace.locate(path);
    return { title: formatTitle("read_file", located), targets: [toPathTarget("read", located)] };
  },
  async execute({ path, offset, limit }, plan, { workspace, signal }) {
    checkReadable(await workspace.locate(path));
    const file = await workspace.openFile(path);
    try {
      checkReadable(file.located);
      checkSamePath(plan, file.located);
      if (file.size > MAX_WHOLE_BYTES && offset === undefined && limit === undefined) {
        const advice = "read a part with offset and limit (offset=1, limit=500), or search it with grep";
        throw new ToolError("too_large", `${path} has ${file.size} bytes, which is over 1 MB; ${advice}`);
      }
      const order = { from: offset ?? 1, limit: limit ?? MAX_LINES, maxPageBytes: MAX_PAGE_BYTES, signal };
      const page = await readPage(file, order);
      if (page.binary !== undefined) throw createBinaryError(path, page.binary);
      return { ok: true, content: render(path, page), metadata: { truncated: isPartial(page) } };
    } finally {
      await file.close();
    }
  },
});

function render(path: string, page: Page): string {
  const { lines, from, total } = page;
  if (lines.length === 0) {
    if (total === 0 && page.isCounted) return "[the file is empty]";
    throw new ToolError("past_end", `${path} has ${total} lines; offset=${from} is past its end`);
  }
  const numbered = lines.map((line, index) => `${String(from + index).padStart(6)}\t${line}`).join("\n");
  const notes = [
    ...(isPartial(page) ? [formatPageNote(page)] : []),
    ...(page.hasCrlf ? ["lines end with CRLF: edit_file needs \\r\\n in strings of several lines"] : []),
    ...(numbered.includes("\ufffd") ? ["invalid UTF-8 is shown as \ufffd"] : []),
  ];
  return notes.length === 0 ? numbered : `${numbered}\n\n[${notes.join("; ")}]`;
}

function isPartial({ lines, from, total, isCounted }: Page): boolean {
  return !isCounted || lines.length < total || from > 1;
}

function formatPageNote({ lines, from, total, isCounted }: Page): string {
  const last = from + lines.length - 1;
  const shown = `lines ${from}-${last} of ${isCounted ? total : `more than ${total}`}`;
  return isCounted && last >= total ? shown : `${shown}; continue with offset=${last + 1}`;
}
