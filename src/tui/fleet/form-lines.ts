// Draws the new-session form. Pure.
import { defined } from "../../base/values.ts";
import { arrangeEditor, sliceVisibleRows } from "../composer/layout.ts";
import { toSafeLine } from "../rows/safe.ts";
import { createPiece, type Line, STYLE } from "../rows/style.ts";
import { cutLine, wrapWords } from "../rows/wrap.ts";
import type { Field, Form } from "./form.ts";

export interface Drawn {
  lines: Line[];
  cursor?: { x: number; y: number };
}

const LABEL = 12;
const MAX_PROMPT_ROWS = 10;
const LABELS: Record<Field, string> = {
  backend: "Agent",
  cwd: "Directory",
  name: "Name",
  worktree: "Worktree",
  prompt: "Task",
};

export function drawForm(form: Form, width: number, height: number): Drawn {
  const lines: Line[] = [[createPiece("New session", STYLE.bold)], []];
  let cursor: Drawn["cursor"];
  const room = Math.max(10, width - LABEL);
  const label = (field: Field): ReturnType<typeof createPiece> =>
    createPiece(
      `${form.field === field ? "▌ " : "  "}${LABELS[field]}`.padEnd(LABEL),
      labelStyle(form, field),
    );
  lines.push(cutLine([label("backend"), ...backendPieces(form)], width));
  for (const field of ["cwd", "name", "worktree", "prompt"] as const) {
    if (field === "worktree") {
      lines.push(cutLine([label(field), ...worktreePieces(form)], width));
      continue;
    }
    const most = field === "prompt" ? Math.max(1, Math.min(MAX_PROMPT_ROWS, height - 10)) : 1;
    const laid = sliceVisibleRows(arrangeEditor(form[field], room), most);
    if (form.field === field && !form.isSent)
      cursor = { x: LABEL + laid.cursor.x, y: lines.length + laid.cursor.y };
    laid.rows.forEach(({ text }, at) => {
      lines.push([at === 0 ? label(field) : createPiece(" ".repeat(LABEL)), createPiece(text)]);
    });
  }
  const problem =
    form.problem === undefined ? [] : wrapWords([createPiece(toSafeLine(form.problem), STYLE.bad)], width);
  lines.push([], ...problem);
  lines.push(cutLine([createPiece(form.isSent ? "starting…" : HINT, STYLE.dim)], width));
  if (!form.isSent) lines.push(cutLine([createPiece(NOTE, STYLE.dim)], width));
  return { lines: lines.slice(0, height), ...defined({ cursor }) };
}

const HINT = "Enter start · Tab next · Alt-Enter new line · Left/Right choose · Esc cancel";
const NOTE = "Without a task, it waits for your first message. It asks before it acts.";

function backendPieces({ backends, backend, field }: Form): Line {
  if (backends === undefined) return [createPiece("loading…", STYLE.dim)];
  if (backends.length === 0) return [createPiece("no agents found; run sm doctor", STYLE.bad)];
  return backends.flatMap((name) => {
    const isChosen = name === backend;
    const style = isChosen ? (field === "backend" ? "7" : STYLE.bold) : STYLE.dim;
    return [
      createPiece(isChosen ? `[${toSafeLine(name)}]` : ` ${toSafeLine(name)} `, style),
      createPiece(" "),
    ];
  });
}

function worktreePieces({ worktree, field }: Form): Line {
  const chosen = field === "worktree" ? "7" : STYLE.bold;
  const explained = worktree ? "a copy of the repository, on a branch of its own" : "the directory itself";
  return [
    createPiece(worktree ? " no " : "[no]", worktree ? STYLE.dim : chosen),
    createPiece(" "),
    createPiece(worktree ? "[yes]" : " yes ", worktree ? chosen : STYLE.dim),
    createPiece(`  ${explained}`, STYLE.dim),
  ];
}

function labelStyle(form: Form, field: Field): string {
  return form.field === field ? STYLE.accent : STYLE.dim;
}
