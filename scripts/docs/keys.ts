// The keys of the terminal UI, as the tables in docs/ui.md.
import { CHANGES_KEYS } from "../../src/tui/changes/keys.ts";
import { FLEET_KEYS } from "../../src/tui/fleet/keys.ts";
import { listKeyRows, PLACES } from "../../src/tui/help.ts";
import { INBOX_KEYS } from "../../src/tui/inbox/keys.ts";
import { getKeyName } from "../../src/tui/keys/table.ts";
import { OUTSIDE_KEYS } from "../../src/tui/outside/keys.ts";
import { SEARCH_KEYS } from "../../src/tui/search/keys.ts";
import { table } from "./markdown.ts";

/** By marker: the text between `<!-- generated: NAME -->` and `<!-- end: NAME -->`. */
export function keyTables(): Map<string, string> {
  const listRows = (rows: readonly { keys: readonly string[]; summary: string }[]): string[][] =>
    rows.map(({ keys, summary }) => [keys.map(getKeyName).join(", "), summary]);
  const session = PLACES.map(([place, title]) => table([title, ""], listKeyRows(place)));
  return new Map([
    [
      "keys",
      [
        ...session,
        table(["In the list", ""], listRows(FLEET_KEYS)),
        table(["In the inbox", "besides the keys that decide the open request"], listRows(INBOX_KEYS)),
        table(["In the sessions started outside", ""], listRows(OUTSIDE_KEYS)),
        table(["In the search", "besides typing"], listRows(SEARCH_KEYS)),
        table(["In the changes", ""], listRows(CHANGES_KEYS)),
      ].join("\n\n"),
    ],
  ]);
}
