// Pages that are written by hand around generated tables.

/** What stands between `<!-- generated: NAME -->` and `<!-- end: NAME -->` is replaced. Throws when a mark is missing. */
export function fillSections(page: string, sections: ReadonlyMap<string, string>): string {
  let filled = page;
  for (const [name, text] of sections) {
    const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
    const [from, to] = [filled.indexOf(begin), filled.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`there is no ${begin} … ${end} in the page`);
    filled = `${filled.slice(0, from)}${begin}\n\n${text}\n\n${filled.slice(to)}`;
  }
  return filled;
}
