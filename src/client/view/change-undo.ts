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
}

const ACTIONS: Readonly<Record<Exclude<UndoneFile["action"], "refused">, string>> = {
  restore: "restore",
  create: "create again",
  delete: "delete",
};
const MAX_LISTED = 12;

/** From the reply to a dry run; undefined if there is nothing to undo. `laterTurns`: they are undone as well. */
export function toUndoQuestion(reply: UndoReply, laterTurns: number): UndoQuestion | undefined {
  const { turn, files } = reply;
  if (files.length === 0) return undefined;
  const refused = files.filter(({ action }) => action === "refused");
  const needsForce = refused.length > 0;
  const later = laterTurns === 1 ? "the turn after it" : `the ${laterTurns} turns after it`;
  const scope = laterTurns === 0 ? `turn ${turn}` : `turn ${turn} and ${later}`;
  const lines = [
    `The files get the content they had before ${scope}. The current content is kept in a checkpoint.`,
    ...(needsForce
      ? ["", "Changed since by others, and overwritten if you continue:", ...listFiles(refused)]
      : []),
    "",
    ...listFiles(files.filter(({ action }) => action !== "refused")),
  ];
  const title = needsForce ? `Undo turn ${turn} and overwrite other changes?` : `Undo turn ${turn}?`;
  const action = needsForce ? `Overwrite ${countFiles(files.length)}` : `Undo ${countFiles(files.length)}`;
  return { title, text: lines.join("\n").trimEnd(), action, needsForce };
}

/** After the undo. */
export function describeUndo({ turn, done, files, conversation }: UndoReply): string {
  if (!done) {
    const [refused] = listFiles(files.filter(({ action }) => action === "refused"));
    return `Turn ${turn} was not undone${refused === undefined ? "" : `: ${refused.replace("• ", "")}`}.`;
  }
  const talk = conversation.rewound
    ? "The conversation was rewound too."
    : `The conversation was not rewound${conversation.reason === undefined ? "" : `: ${conversation.reason}`}.`;
  return `Undid turn ${turn}: ${countFiles(files.length)}. ${talk}`;
}

function listFiles(files: readonly UndoneFile[]): string[] {
  const shown = files.slice(0, MAX_LISTED).map(({ path, action, reason }) => {
    const what = action === "refused" ? "" : `${ACTIONS[action]} `;
    return `• ${what}${path.replace(/[\r\n]/g, " ")}${reason === undefined ? "" : ` (${reason})`}`;
  });
  return files.length > MAX_LISTED ? [...shown, `… and ${files.length - MAX_LISTED} more`] : shown;
}
