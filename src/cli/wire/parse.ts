// Parses a line of the prompt into a verb and its arguments.
import { type Arguments, didYouMean, parseArguments, UsageError } from "../command.ts";
import { splitWords } from "../values.ts";
import type { Verb, VerbArguments } from "./verb.ts";
import { findVerb, VERBS } from "./verbs.ts";

export interface Parsed {
  verb: Verb;
  given: VerbArguments;
}

/** Undefined for a blank line or a `# comment`. */
export function parseLine(line: string): Parsed | undefined {
  const trimmed = line.trim();
  if (trimmed === "" || trimmed.startsWith("#")) return undefined;
  const [, name = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(trimmed) ?? [];
  const verb = findVerb(name);
  if (verb === undefined || verb.where === "shell") throw unknownVerb(name, verb);
  const { verbatimFrom } = verb;
  const [head, text] = verbatimFrom === undefined ? [splitWords(rest), ""] : splitHead(rest, verbatimFrom);
  const { flags, words } = parseArguments(head, verb.flags ?? [], verbatimFrom);
  const [fewest, most] = verb.words;
  if (words.length < fewest || words.length > most) throw new UsageError(`usage: ${verb.usage}`);
  return { verb, given: { words, flags, rest: text } };
}

/** Arguments from the shell, where the text comes as words. */
export function toVerbArguments({ verbatimFrom }: Verb, { words, flags }: Arguments): VerbArguments {
  if (verbatimFrom === undefined) return { words, flags, rest: "" };
  const text = words.slice(verbatimFrom);
  const rest = (text[0] === "--" ? text.slice(1) : text).join(" ");
  return { words: words.slice(0, verbatimFrom), flags, rest };
}

/** The first `count` words of a line, and the rest. */
function splitHead(line: string, count: number): [string[], string] {
  const words: string[] = [];
  let rest = line;
  while (words.length < count && rest !== "") {
    const [, word = "", after = ""] = /^(\S+)\s*(.*)$/s.exec(rest) ?? [];
    words.push(word);
    rest = after;
  }
  return [words, rest];
}

function unknownVerb(name: string, other: Verb | undefined): UsageError {
  if (other !== undefined)
    return new UsageError(`${name} works only in the shell: blemeesctl ${other.usage}`);
  const names = VERBS.filter(({ where }) => where !== "shell").map((verb) => verb.name);
  return new UsageError(`unknown command: ${name}${didYouMean(name, names)}`);
}
