// Extracts findings, decisions and open questions from a sub-agent's report, by rule. Reports are free-form Markdown;
// what cannot be parsed is not noted.

export interface Report {
  findings: string[];
  decisions: string[];
  /** Absent: no such section. */
  openQuestions?: string[];
}

type Section = keyof Report;

const TITLES: readonly { section: Section; words: RegExp }[] = [
  { section: "findings", words: /^(?:(?:key|main) )?(?:findings?|issues?|problems?|bugs?|observations?)$/ },
  { section: "decisions", words: /^(?:(?:key|main) )?decisions?(?: made| taken)?$/ },
  { section: "openQuestions", words: /^(?:open |remaining |unanswered )?questions?$|^unknowns?$/ },
];
const HEADING =
  /^\s{0,3}(?:#{1,6}\s+(?<hash>[^#].*?)\s*#*|\*\*(?<bold>[^*]+)\*\*\s*:?|(?<word>[A-Za-z ]{3,24}):)$/;
const BULLET = /^(?<indent>\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?<text>.*)$/;
const NOTHING = /^\(?(?:none|nothing|n\/a|no|-)\)?(?: (?:found|made|left|open))?\.?$/i;
const MAX_HEADING_CHARS = 80;
const MAX_CHARS = 100_000;

export function readReport(answer: string): Report {
  const found: Required<Report> = { findings: [], decisions: [], openQuestions: [] };
  const loose: string[] = [];
  const seen = new Set<Section>();
  let section: Section | undefined;
  /** The list whose last item continues. */
  let open: string[] | undefined;
  let isCode = false;
  for (const line of answer.slice(0, MAX_CHARS).split(/\r?\n/)) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    else if (!isCode) {
      const title = readTitle(line);
      if (title !== undefined) {
        section = TITLES.find(({ words }) => words.test(title))?.section;
        if (section !== undefined) seen.add(section);
        open = undefined;
        continue;
      }
      open = takeLine(line, section === undefined ? loose : found[section], open, section !== undefined);
    }
  }
  const { openQuestions, findings, decisions } = found;
  return {
    // Without sections, every list item counts as a finding.
    findings: dropEmptyItems(seen.size === 0 ? loose : findings),
    decisions: dropEmptyItems(decisions),
    ...(seen.has("openQuestions") ? { openQuestions: dropEmptyItems(openQuestions) } : {}),
  };
}

function readTitle(line: string): string | undefined {
  if (line.length > MAX_HEADING_CHARS) return undefined;
  const { hash, bold, word } = HEADING.exec(line)?.groups ?? {};
  return (hash ?? bold ?? word)
    ?.replace(/[*_`:]/g, "")
    .trim()
    .toLowerCase();
}

/** A bullet, or a paragraph in a section, starts an item; the lines below belong to it. Returns the open list. */
function takeLine(
  line: string,
  items: string[],
  open: string[] | undefined,
  hasParagraphs: boolean,
): string[] | undefined {
  if (line.trim() === "") return undefined;
  const { indent = "", text } = BULLET.exec(line)?.groups ?? {};
  const isInner = indent.length >= 2 && open !== undefined;
  if (text !== undefined && !isInner) {
    items.push(text.trim());
    return items;
  }
  if (open !== undefined) {
    open.push(`${open.pop() ?? ""} ${(text ?? line).trim()}`);
    return open;
  }
  if (!hasParagraphs) return undefined;
  items.push(line.trim());
  return items;
}

function dropEmptyItems(items: readonly string[]): string[] {
  return items.filter((item) => item !== "" && !NOTHING.test(item));
}
