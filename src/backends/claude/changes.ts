// The input of a file-editing tool → the change it would make. The caller says what is on disk: an edit is shown with the
// lines around it if it fits the file, else without line numbers.
import * as z from "zod";
import { diffHunks, diffLines, endLastLine, formatHunks, signLines } from "../../base/diff.ts";
import type { FileChange } from "../../protocol/requests.ts";

type Change = z.infer<typeof FileChange>;

const Edit = z.looseObject({
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
});
const EditInput = Edit.extend({ file_path: z.string() });
const MultiEditInput = z.looseObject({ file_path: z.string(), edits: z.array(Edit).min(1) });
const WriteInput = z.looseObject({ file_path: z.string(), content: z.string() });
const NotebookEditInput = z.looseObject({
  notebook_path: z.string(),
  new_source: z.string().optional(),
  cell_id: z.string().optional(),
  cell_type: z.string().optional(),
  edit_mode: z.string().optional(),
});

/** As in any diff, a line that starts with a backslash is not part of a file. */
const FILE_END = "\\ No newline at end of file";
const CONTEXT_LINES = 2;
/** An edit may end in the middle of a line. */
const PART_END = "\\ No newline here";

/** What is on disk. */
export interface Disk {
  exists(path: string): boolean;
  /** Undefined if it is no text file, or a large one. */
  readText(path: string): string | undefined;
}

type ToChange = (input: unknown, disk: Disk) => Change | undefined;

const CHANGES: ReadonlyMap<string, ToChange> = new Map<string, ToChange>([
  [
    "Edit",
    (value, disk) => {
      const input = EditInput.safeParse(value).data;
      return input && toEditChange(input.file_path, [input], disk);
    },
  ],
  [
    "MultiEdit",
    (value, disk) => {
      const input = MultiEditInput.safeParse(value).data;
      return input && toEditChange(input.file_path, input.edits, disk);
    },
  ],
  [
    "Write",
    (value, disk) => {
      const input = WriteInput.safeParse(value).data;
      if (input === undefined) return undefined;
      const { content } = input;
      const place = content === "" ? "@@ the whole file, empty @@" : "@@ the whole file @@";
      const diff = [place, ...diffLines("", content)].join("\n");
      return { path: input.file_path, kind: disk.exists(input.file_path) ? "overwrite" : "add", diff };
    },
  ],
  [
    "NotebookEdit",
    (value) => {
      const input = NotebookEditInput.safeParse(value).data;
      return input && { path: input.notebook_path, kind: "update", diff: formatCellHunk(input) };
    },
  ],
]);

/** Undefined if the tool changes no file or its input is unknown. */
export function toFileChange(tool: string, input: unknown, disk: Disk): Change | undefined {
  return CHANGES.get(tool)?.(input, disk);
}

function toEditChange(path: string, edits: readonly z.infer<typeof Edit>[], disk: Disk): Change {
  // An empty search string makes Claude create the file.
  if (edits[0]?.old_string === "") return { path, kind: "add", diff: edits.map(formatHunk).join("\n") };
  const diff = diffInFile(disk.readText(path), edits) ?? edits.map(formatHunk).join("\n");
  return { path, kind: "update", diff };
}

/**
 * Undefined unless each edit has exactly one place, as Claude requires. Claude refuses an edit of a file that has changed
 * since it was read, so what is accepted is what is shown.
 */
function diffInFile(before: string | undefined, edits: readonly z.infer<typeof Edit>[]): string | undefined {
  let after = before;
  for (const { old_string, new_string, replace_all } of edits) {
    const at = after?.indexOf(old_string) ?? -1;
    if (after === undefined || at === -1 || replace_all === true || old_string === "") return undefined;
    if (after.includes(old_string, at + 1)) return undefined;
    // A removed line leaves no empty one.
    const isWholeLine = new_string === "" && !old_string.endsWith("\n");
    const end = at + old_string.length;
    after = after.slice(0, at) + new_string + after.slice(isWholeLine && after[end] === "\n" ? end + 1 : end);
  }
  if (before === undefined || after === undefined || after === before) return undefined;
  return formatHunks(diffHunks(before, after, CONTEXT_LINES)).join("\n");
}

function formatHunk({ old_string, new_string, replace_all }: z.infer<typeof Edit>): string {
  const head = replace_all === true ? "@@ every occurrence @@" : "@@";
  // Claude creates a file from an empty old_string.
  if (old_string === "") return [head, ...diffLines(old_string, new_string)].join("\n");
  // Most edits replace parts of lines; a missing newline is shown only if the edit adds or removes it.
  const isNewlineChanged = new_string !== "" && old_string.endsWith("\n") !== new_string.endsWith("\n");
  const lines = isNewlineChanged
    ? diffLines(old_string, new_string).map((line) => (line === FILE_END ? PART_END : line))
    : diffLines(endLastLine(old_string), endLastLine(new_string));
  return [head, ...lines].join("\n");
}

function formatCellHunk(input: z.infer<typeof NotebookEditInput>): string {
  const { edit_mode = "replace", cell_id, cell_type, new_source = "" } = input;
  // Quoted, so that neither can look like lines of the diff.
  const cell = cell_id === undefined ? "no cell" : `cell ${JSON.stringify(cell_id)}`;
  const type = cell_type === undefined ? "" : ` of type ${JSON.stringify(cell_type)}`;
  const source = signLines("+", new_source);
  if (edit_mode === "delete") return `@@ delete ${cell} @@\n\\ Deletes the whole cell`;
  if (edit_mode === "insert") {
    const place = cell_id === undefined ? "at the beginning" : `after ${cell}`;
    return [`@@ insert a cell${type} ${place} @@`, ...source].join("\n");
  }
  const verb = edit_mode === "replace" ? "replace" : JSON.stringify(edit_mode);
  const left = "\\ Replaces the whole cell";
  return [`@@ ${verb} ${cell}${type} @@`, ...(edit_mode === "replace" ? [left] : []), ...source].join("\n");
}
