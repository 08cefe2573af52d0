// Highlights search matches in a row that contains our own escape codes.
import type { Look } from "../screen-types.ts";

const CODE = "\u001b\\[[0-9;]*m";

export function highlightMatches(ansi: string, query: string, { hasColor }: Look): string {
  if (!hasColor) return ansi;
  const plain = ansi.replace(new RegExp(CODE, "g"), "");
  const isExact = /\p{Lu}/u.test(query);
  const text = isExact ? plain : plain.toLowerCase();
  // A letter whose lowercase form has another length would shift everything after it.
  if (text.length !== plain.length || !text.includes(query)) return ansi;
  const sgr = new RegExp(CODE, "y");
  let out = "";
  let seen = 0;
  let until = -1;
  for (let at = 0; at < ansi.length; ) {
    sgr.lastIndex = at;
    const [code] = sgr.exec(ansi) ?? [];
    if (code !== undefined) {
      out += seen < until ? `${code}\u001b[7m` : code;
      at += code.length;
      continue;
    }
    if (seen >= until && text.startsWith(query, seen)) {
      until = seen + query.length;
      out += "\u001b[7m";
    }
    out += ansi[at];
    at += 1;
    seen += 1;
    if (seen === until) out += "\u001b[27m";
  }
  return out;
}
