// From a typed line, or from the arguments of the program, to a verb and what it was given.
import { didYouMean, type Flag, parseArguments, UsageError } from "../command.ts";
import { splitWords } from "../values.ts";
import type { Verb, VerbArguments } from "./verb.ts";
import { findVerb, VERBS } from "./verbs.ts";

export interface Parsed {
  verb: Verb;
  given: VerbArguments;
}

/** A line at the prompt; undefined for a blank one or a `# comment`. */
export function parseLine(line: string): Parsed | undefined {
  const trimmed = line.trim();
  if (trimmed === "" || trimmed.startsWith("#")) return undefined;
  const [, name = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(trimmed) ?? [];
  const verb = findVerb(name);
  if (verb === undefined || verb.where === "shell") throw unknownVerb(name, "prompt");
  if (verb.verbatimFrom === undefined) return check(verb, splitWords(rest), []);
  const [head, text] = cut(rest, verb.verbatimFrom);
  return check(verb, head, [], text);
}

/** The arguments of the program behind its own flags: a verb and its words. */
export function parseShell(argv: readonly string[], common: readonly Flag[]): Parsed {
  const [name = "", ...rest] = argv;
  const verb = findVerb(name);
  if (verb === undefined || verb.where === "prompt") throw unknownVerb(name, "shell");
  return check(verb, rest, common);
}

function check(verb: Verb, argv: readonly string[], common: readonly Flag[], text?: string): Parsed {
  const { verbatimFrom, usage } = verb;
  const { flags, words } = parseArguments(argv, [...(verb.flags ?? []), ...common], verbatimFrom);
  const [fewest, most] = verb.words;
  if (flags["help"] === undefined && (words.length < fewest || words.length > most)) {
    throw new UsageError(`usage: ${usage}`);
  }
  if (verbatimFrom === undefined) return { verb, given: { words, flags, rest: "" } };
  const behind = words.slice(verbatimFrom);
  const rest = text ?? (behind[0] === "--" ? behind.slice(1) : behind).join(" ");
  return { verb, given: { words: words.slice(0, verbatimFrom), flags, rest } };
}

/** The first `count` words of a line, and what stands behind them. */
function cut(line: string, count: number): [string[], string] {
  const words: string[] = [];
  let rest = line;
  while (words.length < count && rest !== "") {
    const [, word = "", behind = ""] = /^(\S+)\s*(.*)$/s.exec(rest) ?? [];
    words.push(word);
    rest = behind;
  }
  return [words, rest];
}

function unknownVerb(name: string, where: "prompt" | "shell"): UsageError {
  const names = VERBS.filter((verb) => verb.where === where || verb.where === "both").map(
    (verb) => verb.name,
  );
  const other = findVerb(name);
  if (other !== undefined) {
    const place =
      where === "prompt" ? `in the shell: blemeesctl ${other.usage}` : "at the prompt: run blemeesctl alone";
    return new UsageError(`${name} is used ${place}`);
  }
  return new UsageError(`unknown command: ${name}${didYouMean(name, names)}`);
}
