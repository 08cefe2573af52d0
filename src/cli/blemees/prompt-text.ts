// The text of a message: arguments, a file, or stdin.
import { readFile } from "node:fs/promises";
import { toMessage } from "../../base/coded-error.ts";
import { type Arguments, defineFlag, type Flag, readTextFlag, UsageError } from "../command.ts";
import type { BlemeesContext } from "./command.ts";

export const FILE: Flag = defineFlag("-F, --file FILE", "read the text from a file (- is stdin)", {
  completes: "file",
});

/** Undefined if there is none. A lone `-` is stdin too. */
export async function readPrompt(
  words: readonly string[],
  given: Arguments,
  { readInput }: Pick<BlemeesContext, "readInput">,
): Promise<string | undefined> {
  const file = readTextFlag(given, "file");
  const isInput = file === "-" || (words.length === 1 && words[0] === "-");
  if (file !== undefined && words.length > 0)
    throw new UsageError("give the text as arguments or with --file, not both");
  if (file !== undefined && !isInput) return trimText(await readTextFile(file));
  if (words.length > 0 && !isInput) return trimText(words.join(" "));
  const text = await readInput();
  if (text === undefined && isInput) throw new UsageError("no input on stdin; pipe the text in");
  return trimText(text ?? "");
}

async function readTextFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${toMessage(error)}`);
  }
}

function trimText(text: string): string | undefined {
  const trimmed = text.replace(/\s+$/, "");
  return trimmed === "" ? undefined : trimmed;
}
