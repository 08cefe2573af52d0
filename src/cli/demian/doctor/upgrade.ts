// Adds `demian.` to the tool names of permission rules in the text of a config file. Pure. The text is known to be valid
// JSON.

export interface Renaming {
  /** For example `permissions[0].tool`. */
  place: string;
  from: string;
  to: string;
}

export interface Upgrade {
  text: string;
  renamings: Renaming[];
  /** Names without a namespace that match no tool; left unchanged. */
  unknown: { place: string; name: string }[];
}

/** Paths of rules: global, per agent, and per agent in the older form. */
const RULES = /^(?:agents\.[^.[]+\.(?:authority\.)?)?permissions\[\d+\]\.tool$/;

export function upgradeText(text: string, tools: readonly string[]): Upgrade {
  const upgrade: Upgrade = { text: "", renamings: [], unknown: [] };
  let copied = 0;
  for (const { start, end, place } of stringValues(text)) {
    if (!RULES.test(place)) continue;
    const name = JSON.parse(text.slice(start, end)) as string;
    // `*` matches every namespace, and a name with a dot already has one.
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
  /** After the closing quote. */
  end: number;
  place: string;
}

/** An object with its current key, or an array with its current index. */
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
      else found.push({ start: match.index, end: match.index + token.length, place: formatPlace(levels) });
    }
    const inObject = "key" in (levels.at(-1) ?? {});
    isKey = inObject && (token === "{" || token === ",");
  }
  return found;
}

function formatPlace(levels: readonly Level[]): string {
  return levels
    .map((level) => ("key" in level ? `.${level.key}` : `[${level.index}]`))
    .join("")
    .slice(1);
}
