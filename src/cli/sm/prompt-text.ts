// The text of a message: the words, a file, or stdin.
import { readFile } from "node:fs/promises";
import { messageOf } from "../../base/coded-error.ts";
import { type Arguments, type Flag, UsageError } from "../command.ts";
import { type Context, textFlag } from "./command.ts";

export const FILE: Flag = {
  name: "file",
  short: "F",
  value: "FILE",
  completes: "file",
  summary: "take the text from a file (- is stdin)",
};

/** undefined: there is none. A lone `-` is stdin too. */
export async function promptText(
  words: readonly string[],
  given: Arguments,
  { readInput }: Pick<Context, "readInput">,
): Promise<string | undefined> {
  const file = textFlag(given, "file");
  const isInput = file === "-" || (words.length === 1 && words[0] === "-");
  if (file !== undefined && words.length > 0)
    throw new UsageError("give the text as words or with --file, not both");
  if (file !== undefined && !isInput) return clean(await textOfFile(file));
  if (words.length > 0 && !isInput) return clean(words.join(" "));
  const text = await readInput();
  if (text === undefined && isInput) throw new UsageError("nothing is piped in");
  return clean(text ?? "");
}

async function textOfFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${messageOf(error)}`);
  }
}

function clean(text: string): string | undefined {
  const trimmed = text.replace(/\s+$/, "");
  return trimmed === "" ? undefined : trimmed;
}
