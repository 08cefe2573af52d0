// What undoing a turn would do, and what it did, in words for a confirmation.
import type { UndoneFile, UndoReply } from "../../protocol/changes.ts";
import { countFiles } from "./change-list.ts";

export interface UndoQuestion {
  title: string;
  text: string;
  /** The label of the button. */
  action: string;
  /** Files that others changed since would be overwritten. */
  needsForce: boolean;
  /** The agent would forget the turns too, unless only files are chosen. */
  canForget: boolean;
}

const ACTIONS: Readonly<Record<Exclude<UndoneFile["action"], "refused">, string>> = {
  restore: "restore",
  create: "create again",
  delete: "delete",
};
const MAX_LISTED = 12;

/** From the reply to a dry run; undefined if there is nothing to undo. `laterTurns`: they are undone as well. */
export function toUndoQuestion(reply: UndoReply, laterTurns: number): UndoQuestion | undefined {
  const { turn, files, conversation } = reply;
  const canForget = conversation.is_possible === true;
  if (files.length === 0 && !canForget) return undefined;
  const refused = files.filter(({ action }) => action === "refused");
  const needsForce = refused.length > 0;
  const later = laterTurns === 1 ? "the turn after it" : `the ${laterTurns} turns after it`;
  const scope = laterTurns === 0 ? `turn ${turn}` : `turn ${turn} and ${later}`;
  const lines = [
    files.length === 0
      ? `No file was changed in ${scope}.`
      : `The files get the content they had before ${scope}. The current content is kept in a checkpoint.`,
    describeForgetting(reply),
    ...(needsForce
      ? ["", "Changed since by others, and overwritten if you continue:", ...listFiles(refused)]
      : []),
    "",
    ...listFiles(files.filter(({ action }) => action !== "refused")),
  ];
  const title = needsForce ? `Undo turn ${turn} and overwrite other changes?` : `Undo turn ${turn}?`;
  const action = needsForce ? `Overwrite ${countFiles(files.length)}` : `Undo ${countFiles(files.length)}`;
  return { title, text: lines.join("\n").trimEnd(), action, needsForce, canForget };
}

/** What a dry run says about the conversation. */
export function describeForgetting({ turn, conversation: { is_possible, reason } }: UndoReply): string {
  if (is_possible === true) return `The agent forgets turn ${turn} and later too. History keeps them.`;
  return `The conversation stays as it is${reason === undefined ? "" : `: ${reason}`}.`;
}

/** After the undo. */
export function describeUndo({ turn, done, files, conversation }: UndoReply): string {
  if (!done) {
    const [refused] = listFiles(files.filter(({ action }) => action === "refused"));
    return `Turn ${turn} was not undone${refused === undefined ? "" : `: ${refused.replace("• ", "")}`}.`;
  }
  return `Undid turn ${turn}: ${countFiles(files.length)}. ${describeConversation(conversation)}`;
}

/** What happened to the conversation. */
export function describeConversation({ rewound, turn, reason }: UndoReply["conversation"]): string {
  if (rewound) return "The agent has forgotten these turns too.";
  const why = reason === undefined ? "" : `: ${reason}`;
  return turn === undefined
    ? `The agent still remembers these turns${why}. Say in the next message that they were undone.`
    : `The agent has forgotten turn ${turn} and later only${why}.`;
}

function listFiles(files: readonly UndoneFile[]): string[] {
  const shown = files.slice(0, MAX_LISTED).map(({ path, action, reason }) => {
    const what = action === "refused" ? "" : `${ACTIONS[action]} `;
    return `• ${what}${path.replace(/[\r\n]/g, " ")}${reason === undefined ? "" : ` (${reason})`}`;
  });
  return files.length > MAX_LISTED ? [...shown, `… and ${files.length - MAX_LISTED} more`] : shown;
}
