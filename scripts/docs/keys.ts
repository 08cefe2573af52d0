// The keys of the terminal UI, as the tables in docs/ui.md.
import { FLEET_KEYS } from "../../src/tui/fleet/keys.ts";
import { listKeyRows, PLACES } from "../../src/tui/help.ts";
import { getKeyName } from "../../src/tui/keys/table.ts";
import { table } from "./markdown.ts";

/** By marker: the text between `<!-- generated: NAME -->` and `<!-- end: NAME -->`. */
export function keyTables(): Map<string, string> {
  const list = FLEET_KEYS.map(({ keys, summary }) => [keys.map(getKeyName).join(", "), summary]);
  const session = PLACES.map(([place, title]) => table([title, ""], listKeyRows(place)));
  return new Map([["keys", [...session, table(["In the list", ""], list)].join("\n\n")]]);
}
