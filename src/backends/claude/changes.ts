// The input of a tool that changes files → what would change. No file is read, so line numbers are not known; whether
// a file that is written whole was there before is asked of the caller.
import * as z from "zod";
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

/** As in any diff, a line behind a backslash is about the change and not in a file. */
const FILE_END = "\\ No newline at end of file";
/** What an edit looks for may end in the middle of a line. */
const PART_END = "\\ No newline here";

type ToChange = (input: unknown, exists: (path: string) => boolean) => Change | undefined;

const CHANGES: ReadonlyMap<string, ToChange> = new Map<string, ToChange>([
  [
    "Edit",
    (value) => {
      const input = EditInput.safeParse(value).data;
      return input && editChange(input.file_path, [input]);
    },
  ],
  [
    "MultiEdit",
    (value) => {
      const input = MultiEditInput.safeParse(value).data;
      return input && editChange(input.file_path, input.edits);
    },
  ],
  [
    "Write",
    (value, exists) => {
      const input = WriteInput.safeParse(value).data;
      if (input === undefined) return undefined;
      const { content } = input;
      const place = content === "" ? "@@ the whole file, empty @@" : "@@ the whole file @@";
      const diff = [place, ...marked("+", linesOf(content, FILE_END))].join("\n");
      return { path: input.file_path, kind: exists(input.file_path) ? "overwrite" : "add", diff };
    },
  ],
  [
    "NotebookEdit",
    (value) => {
      const input = NotebookEditInput.safeParse(value).data;
      return input && { path: input.notebook_path, kind: "update", diff: cellHunk(input) };
    },
  ],
]);

/** Undefined: the tool changes no file, or its input is not what we know. */
export function toFileChange(
  tool: string,
  input: unknown,
  exists: (path: string) => boolean,
): Change | undefined {
  return CHANGES.get(tool)?.(input, exists);
}

function editChange(path: string, edits: readonly z.infer<typeof Edit>[]): Change {
  // Claude creates the file when there is nothing to look for.
  const kind = edits[0]?.old_string === "" ? "add" : "update";
  return { path, kind, diff: edits.map(hunk).join("\n") };
}

function hunk({ old_string, new_string, replace_all }: z.infer<typeof Edit>): string {
  const isNewFile = old_string === "";
  // Said only where it is the change: most edits are parts of lines on both sides.
  const isOneSided = new_string !== "" && old_string.endsWith("\n") !== new_string.endsWith("\n");
  const unended = isNewFile ? FILE_END : isOneSided ? PART_END : undefined;
  const before = linesOf(old_string, unended);
  const after = linesOf(new_string, unended);
  let head = 0;
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const cut = (lines: string[]) => lines.slice(head, lines.length - tail);
  return [
    replace_all === true ? "@@ every occurrence @@" : "@@",
    ...before.slice(0, head).map((line) => ` ${line}`),
    ...marked("-", cut(before)),
    ...marked("+", cut(after)),
    ...before.slice(before.length - tail).map((line) => ` ${line}`),
  ].join("\n");
}

function cellHunk(input: z.infer<typeof NotebookEditInput>): string {
  const { edit_mode = "replace", cell_id, cell_type, new_source = "" } = input;
  // Quoted, so that neither can pass for lines of the diff.
  const cell = cell_id === undefined ? "no cell" : `cell ${JSON.stringify(cell_id)}`;
  const type = cell_type === undefined ? "" : ` of type ${JSON.stringify(cell_type)}`;
  const source = marked("+", linesOf(new_source));
  if (edit_mode === "delete") return `@@ delete ${cell} @@\n\\ All of it goes, whatever it holds`;
  if (edit_mode === "insert") {
    const place = cell_id === undefined ? "at the beginning" : `after ${cell}`;
    return [`@@ insert a cell${type} ${place} @@`, ...source].join("\n");
  }
  const verb = edit_mode === "replace" ? "replace" : JSON.stringify(edit_mode);
  const left = "\\ All that it held goes";
  return [`@@ ${verb} ${cell}${type} @@`, ...(edit_mode === "replace" ? [left] : []), ...source].join("\n");
}

function marked(sign: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${sign}${line}`);
}

/** A newline at the end ends the last line; it does not begin another. Where it is missing, `unended` says so. */
function linesOf(text: string, unended?: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (text.endsWith("\n")) return lines.slice(0, -1);
  return unended === undefined ? lines : [...lines.slice(0, -1), `${lines.at(-1)}\n${unended}`];
}
