// The text of a file after an edit by Claude Code, to show before it is allowed.

type Input = Readonly<Record<string, unknown>>;

/** Undefined if unknown, or if Claude Code will refuse the edit itself. */
export function applyEdits(tool: string, input: Input, before: string): string | undefined {
  const edits = tool === "Edit" ? [input] : tool === "MultiEdit" ? input["edits"] : undefined;
  if (!Array.isArray(edits)) return undefined;
  let text: string | undefined = before;
  for (const edit of edits) text = text === undefined ? undefined : applyEdit(edit, text);
  return text;
}

function applyEdit(edit: unknown, text: string): string | undefined {
  const { old_string, new_string, replace_all } = (edit ?? {}) as Input;
  if (typeof old_string !== "string" || typeof new_string !== "string") return undefined;
  // An empty search string creates the file.
  if (old_string === "") return text === "" ? new_string : undefined;
  const parts = text.split(old_string);
  if (parts.length < 2 || (parts.length > 2 && replace_all !== true)) return undefined;
  return parts.join(new_string);
}
