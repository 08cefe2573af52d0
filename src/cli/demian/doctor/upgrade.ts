// Finds the tool names of permission rules in the text of a config file, and puts `demian.` before them. Pure. The text
// is JSON that was read before, so it is only walked here.

export interface Renaming {
  /** Where: `permissions[0].tool`. */
  place: string;
  from: string;
  to: string;
}

export interface Upgrade {
  text: string;
  renamings: Renaming[];
  /** Names without an executor that no tool has: left as they are. */
  unknown: { place: string; name: string }[];
}

/** Where rules may stand: of everybody, of an agent, and the older way of an agent. */
const RULES = /^(?:agents\.[^.[]+\.(?:authority\.)?)?permissions\[\d+\]\.tool$/;

export function upgradeText(text: string, tools: readonly string[]): Upgrade {
  const upgrade: Upgrade = { text: "", renamings: [], unknown: [] };
  let copied = 0;
  for (const { start, end, place } of stringValues(text)) {
    if (!RULES.test(place)) continue;
    const name = JSON.parse(text.slice(start, end)) as string;
    // `*` is about every executor, and whatever has a dot names one.
    if (name === "*" || name.includes(".")) continue;
    if (!tools.includes(name)) {
      upgrade.unknown.push({ place, name });
      continue;
    }
    const to = `demian.${name}`;
    upgrade.renamings.push({ place, from: name, to });
    upgrade.text += text.slice(copied, start) + JSON.stringify(to);
    copied = end;
  }
  upgrade.text += text.slice(copied);
  return upgrade;
}

interface StringValue {
  start: number;
  /** Behind the closing quote. */
  end: number;
  place: string;
}

/** An object with the key that comes next, or an array with the index of its next item. */
type Level = { key: string } | { index: number };

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

function stringValues(text: string): StringValue[] {
  const found: StringValue[] = [];
  const levels: Level[] = [];
  let isKey = false;
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    const level = levels.at(-1);
    if (token === "{") levels.push({ key: "" });
    else if (token === "[") levels.push({ index: 0 });
    else if (token === "}" || token === "]") levels.pop();
    else if (token === "," && level !== undefined && "index" in level) level.index += 1;
    else if (token.startsWith('"')) {
      if (isKey && level !== undefined && "key" in level) level.key = JSON.parse(token) as string;
      else found.push({ start: match.index, end: match.index + token.length, place: placeOf(levels) });
    }
    const inObject = "key" in (levels.at(-1) ?? {});
    isKey = inObject && (token === "{" || token === ",");
  }
  return found;
}

function placeOf(levels: readonly Level[]): string {
  return levels
    .map((level) => ("key" in level ? `.${level.key}` : `[${level.index}]`))
    .join("")
    .slice(1);
}
