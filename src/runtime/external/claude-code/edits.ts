// What a file will be after an edit of Claude Code's, to show it before it is allowed.

type Input = Readonly<Record<string, unknown>>;

/** Undefined: it cannot be told, or Claude Code will refuse the edit itself. */
export function editedText(tool: string, input: Input, before: string): string | undefined {
  const edits = tool === "Edit" ? [input] : tool === "MultiEdit" ? input["edits"] : undefined;
  if (!Array.isArray(edits)) return undefined;
  let text: string | undefined = before;
  for (const edit of edits) text = text === undefined ? undefined : applied(edit, text);
  return text;
}

function applied(edit: unknown, text: string): string | undefined {
  const { old_string, new_string, replace_all } = (edit ?? {}) as Input;
  if (typeof old_string !== "string" || typeof new_string !== "string") return undefined;
  // A new file is an edit of nothing.
  if (old_string === "") return text === "" ? new_string : undefined;
  const parts = text.split(old_string);
  if (parts.length < 2 || (parts.length > 2 && replace_all !== true)) return undefined;
  return parts.join(new_string);
}
