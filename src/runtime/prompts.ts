// Own slash commands: `commands/NAME.md` of the user, and of the project once it is trusted. The text is a message;
// `$ARGUMENTS`, `$1`, `$2`, … in it are replaced.
import { toMessage } from "../base/coded-error.ts";
import { asText, defined } from "../base/values.ts";
import { parseFrontMatter } from "./agents/front-matter.ts";
import { LineFault } from "./agents/line-fault.ts";
import { decodeFile } from "./config/bounded-file.ts";
import type { ScopeFile } from "./config/scope.ts";

export interface PromptCommand {
  /** Without the slash. */
  name: string;
  description?: string;
  body: string;
  scope: "user" | "project";
}

const NAME = /^[a-z][a-z0-9-]{0,63}$/;
const MAX_DESCRIPTION = 200;
const PLACEHOLDER = /\$ARGUMENTS\b|\$([1-9])(?!\d)/g;
const WORD = /"([^"]*)"|'([^']*)'|(\S+)/g;

/** Undefined: skipped; `warnings` says why. */
export async function readPromptCommand(
  file: ScopeFile,
  warnings: string[],
): Promise<PromptCommand | undefined> {
  const { path, stem, scope } = file;
  try {
    if (!NAME.test(stem)) throw new Error(`"${stem}" is not a valid name: use a-z, 0-9 and -`);
    const { body, description } = await parse(decodeFile(file));
    if (body === "") throw new Error("it has no text");
    return { name: stem, body, scope: scope.name, ...defined({ description }) };
  } catch (error) {
    const place = error instanceof LineFault ? `${path}:${error.line}` : path;
    warnings.push(`${place}: ${toMessage(error)}; the command is ignored`);
    return undefined;
  }
}

async function parse(text: string): Promise<{ body: string; description: string | undefined }> {
  if (!/^\ufeff?---\s*\n/.test(text)) return { body: text.trim(), description: undefined };
  const { value, body } = await parseFrontMatter(text);
  const description = asText(value["description"])?.replace(/\s+/g, " ").slice(0, MAX_DESCRIPTION);
  return { body: body.trim(), description };
}

/** The message of "/name arguments"; undefined if the text is no own command. */
export function expandPrompt(commands: readonly PromptCommand[], text: string): string | undefined {
  const [, name, rest = ""] = /^\/([a-z][a-z0-9-]*)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const command = commands.find((one) => one.name === name);
  return command === undefined ? undefined : fillArguments(command.body, rest.trim());
}

/** Arguments that the text does not mention are added to its end. */
function fillArguments(body: string, given: string): string {
  const words = [...given.matchAll(WORD)].map(([, double, single, bare]) => double ?? single ?? bare ?? "");
  let isUsed = false;
  const filled = body.replace(PLACEHOLDER, (_, digit?: string) => {
    isUsed = true;
    return digit === undefined ? given : (words[Number(digit) - 1] ?? "");
  });
  return isUsed || given === "" ? filled : `${filled}\n\n${given}`;
}
