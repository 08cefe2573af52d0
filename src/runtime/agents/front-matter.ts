// Parses the YAML front matter of a Markdown file, between two `---` lines: plain data with the line of every value.
// The file is untrusted, so features only an attack needs (anchors, tags, deep nesting) are refused.
import { isObject, type JsonObject } from "../../base/json.ts";
import { LineFault } from "./line-fault.ts";

export interface FrontMatter {
  value: JsonObject;
  /** The text after it. */
  body: string;
  bodyLine: number;
  /** The line of a key or item; for a missing one, of its parent; for the whole, the first line. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** Far more than an agent needs: the parser is quadratic in lines, brackets and keys. */
const MAX_CHARACTERS = 16 * 1024;
const MAX_LINES = 400;
/** Deep nesting crashes the process (yaml 2.9 recurses, and V8 gives up in a regular expression). */
const MAX_BRACKETS = 200;
const MAX_INDENT = 100;
const MAX_MARKS_IN_LINE = 64;
/** Limit of the YAML. */
const FIRST_LINE = 2;
const FENCE = /^---[ \t]*$/;

/** Throws `LineFault`. */
export async function parseFrontMatter(text: string): Promise<FrontMatter> {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n/);
  if (!FENCE.test(lines[0] ?? ""))
    throw new LineFault(1, 'it does not start with front matter: a line "---", YAML, and another line "---"');
  const end = lines.findIndex((line, at) => at > 0 && FENCE.test(line));
  if (end === -1) throw new LineFault(1, 'the front matter is not closed: a second line "---" is missing');
  const source = lines.slice(1, end);
  checkShape(source);
  // Load the parser only if there is such a file.
  const { composeYaml } = await import("./yaml.ts");
  const { value, findLine: lineOf } = composeYaml(source.join("\n"), FIRST_LINE);
  if (value !== null && !isObject(value))
    throw new LineFault(
      FIRST_LINE,
      "the front matter is a list or text; expected keys and values, such as `name: reviewer`",
    );
  return {
    value: value ?? {},
    body: lines.slice(end + 1).join("\n"),
    bodyLine: end + 2,
    lineOf,
  };
}

function checkShape(lines: readonly string[]): void {
  let characters = 0;
  let brackets = 0;
  for (const [at, line] of lines.entries()) {
    characters += line.length + 1;
    brackets += line.match(/[[\]{}]/g)?.length ?? 0;
    const indent = /^\s*/.exec(line)?.[0].length ?? 0;
    const marks = line.match(/[-?:](?=\s|$)/g)?.length ?? 0;
    const fault =
      characters > MAX_CHARACTERS
        ? `the front matter is larger than ${MAX_CHARACTERS / 1024} KiB`
        : at >= MAX_LINES
          ? `the front matter has more than ${MAX_LINES} lines`
          : brackets > MAX_BRACKETS
            ? `the front matter has more than ${MAX_BRACKETS} brackets`
            : indent > MAX_INDENT || marks > MAX_MARKS_IN_LINE
              ? "the front matter is nested too deeply"
              : undefined;
    if (fault !== undefined) throw new LineFault(at + FIRST_LINE, fault);
  }
}
