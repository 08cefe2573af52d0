// Commands that mark sessions for their user: label, archive, unarchive.
import type { ChangeBody, SessionView } from "../../client/index.ts";
import { defineFlag, UsageError } from "../command.ts";
import { show } from "../output.ts";
import { ANY } from "../program.ts";
import type { BlemeesCommand, BlemeesContext } from "./command.ts";
import { runOnEach } from "./each.ts";
import { describeSession, findSession } from "./find.ts";
import { SELECTING, SELECTING_NOTES, type Selection, selectSessions } from "./select.ts";

export const LABEL: BlemeesCommand = {
  name: "label",
  usage: "label ID [LABEL…]",
  summary: "add labels to a session, or take them away with --remove; without any print them",
  words: [1, ANY],
  completes: "session",
  flags: [defineFlag("-r, --remove LABEL", "take this label away; may be repeated", { isMany: true })],
  examples: ["label fixer bug api", "label fixer --remove bug", "label fixer"],
  notes: ["Find sessions by label with: sm all --label LABEL."],
  async run(given, context) {
    const [id = "", ...add_labels] = given.words;
    const remove_labels = [...(given.many["remove"] ?? [])];
    const both = add_labels.find((label) => remove_labels.includes(label));
    if (both !== undefined) throw new UsageError(`${both} is both added and removed`);
    const http = await context.connect();
    const session = await findSession(http, id);
    const change: ChangeBody = {
      ...(add_labels.length === 0 ? {} : { add_labels }),
      ...(remove_labels.length === 0 ? {} : { remove_labels }),
    };
    const view = Object.keys(change).length === 0 ? session : await http.change(session.session_id, change);
    const { labels = [] } = view;
    if (labels.length === 0 && !context.isJson) context.output.note("No labels");
    return show(context, view, () => labels);
  },
};

export const ARCHIVE: BlemeesCommand = {
  name: "archive",
  usage: "archive ID…",
  summary: "put sessions away: lists leave them out until they are used again; nothing is deleted",
  words: [0, ANY],
  completes: "session",
  flags: SELECTING,
  examples: ["archive fixer", "archive --label done"],
  notes: SELECTING_NOTES,
  run: async (given, context) => setArchived(true, await select(given, context), context),
};

export const UNARCHIVE: BlemeesCommand = {
  name: "unarchive",
  usage: "unarchive ID…",
  summary: "take sessions back out of the archive; `sm all --archived` lists them",
  words: [1, ANY],
  completes: "archived",
  examples: ["unarchive fixer"],
  run: async (given, context) => setArchived(false, await select(given, context), context),
};

async function select(
  given: Parameters<BlemeesCommand["run"]>[0],
  context: BlemeesContext,
): Promise<Selection> {
  return selectSessions(await context.connect(), given, given.words, { self: context.self });
}

async function setArchived(
  archived: boolean,
  { sessions, only }: Selection,
  context: BlemeesContext,
): Promise<number> {
  const http = await context.connect();
  const act = ({ session_id }: SessionView): Promise<SessionView> => http.change(session_id, { archived });
  const done = archived ? "archived" : "back in the lists";
  if (only === undefined) return runOnEach(context, sessions, { act, describe: () => done });
  const view = await act(only);
  return show(context, view, () => [`${done}: ${describeSession(view)}`]);
}
