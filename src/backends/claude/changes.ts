// The input of a tool that changes files → what would change. Made from the input alone: no file is read, so line
// numbers are not known.
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
  edit_mode: z.string().optional(),
});

type ToChange = (input: unknown) => Change | undefined;

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
    (value) => {
      const input = WriteInput.safeParse(value).data;
      if (input === undefined) return undefined;
      const diff = ["@@ the whole file @@", ...marked("+", input.content)].join("\n");
      // There may be a file already, and then all of it goes: the worse case is the one to show.
      return { path: input.file_path, kind: "update", diff };
    },
  ],
  [
    "NotebookEdit",
    (value) => {
      const input = NotebookEditInput.safeParse(value).data;
      if (input === undefined) return undefined;
      const { edit_mode = "replace", cell_id, new_source = "" } = input;
      const place = `@@ ${edit_mode} cell${cell_id === undefined ? "" : ` ${cell_id}`} @@`;
      const lines = edit_mode === "delete" ? [] : marked("+", new_source);
      return { path: input.notebook_path, kind: "update", diff: [place, ...lines].join("\n") };
    },
  ],
]);

/** Undefined: the tool changes no file, or its input is not what we know. */
export function toFileChange(tool: string, input: unknown): Change | undefined {
  return CHANGES.get(tool)?.(input);
}

function editChange(path: string, edits: readonly z.infer<typeof Edit>[]): Change {
  // Claude creates the file when there is nothing to look for.
  const kind = edits[0]?.old_string === "" ? "add" : "update";
  return { path, kind, diff: edits.map(hunk).join("\n") };
}

function hunk({ old_string, new_string, replace_all }: z.infer<typeof Edit>): string {
  const before = linesOf(old_string);
  const after = linesOf(new_string);
  let head = 0;
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const cut = (lines: string[]) => lines.slice(head, lines.length - tail);
  return [
    replace_all === true ? "@@ every occurrence @@" : "@@",
    ...before.slice(0, head).map((line) => ` ${line}`),
    ...cut(before).map((line) => `-${line}`),
    ...cut(after).map((line) => `+${line}`),
    ...before.slice(before.length - tail).map((line) => ` ${line}`),
  ].join("\n");
}

function marked(sign: string, text: string): string[] {
  return linesOf(text).map((line) => `${sign}${line}`);
}

/** A newline at the end ends the last line; it does not begin another. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}
