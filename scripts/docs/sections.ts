// Pages that are written by hand around generated tables.

/** Replaces the text between `<!-- generated: NAME -->` and `<!-- end: NAME -->`. Throws if a marker is missing. */
export function fillSections(page: string, sections: ReadonlyMap<string, string>): string {
  let filled = page;
  for (const [name, text] of sections) {
    const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
    const [from, to] = [filled.indexOf(begin), filled.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`the page has no ${begin} … ${end}`);
    filled = `${filled.slice(0, from)}${begin}\n\n${text}\n\n${filled.slice(to)}`;
  }
  return filled;
}
