// The new-session form: fields and keys. Pure.
import { editWith } from "../composer/edit-keys.ts";
import { type Editor, EMPTY_EDITOR, expandText, insert, setText } from "../composer/editor.ts";
import type { Input } from "../screen-types.ts";
import { getTyped } from "./keys.ts";

const FIELDS = ["backend", "cwd", "name", "worktree", "prompt"] as const;
export type Field = (typeof FIELDS)[number];

export interface SpawnOrder {
  backend: string;
  prompt: string;
  cwd: string;
  name?: string;
  worktree?: true;
}

export interface Form {
  field: Field;
  /** Absent until loaded. */
  backends?: readonly string[];
  backend: string;
  cwd: Editor;
  name: Editor;
  /** Work in a new git worktree. */
  worktree: boolean;
  prompt: Editor;
  problem?: string;
  /** Submitted; no longer editable. */
  isSent: boolean;
}

/** Starts at the task: the agent is usually preselected. */
export function createForm(cwd: string): Form {
  return {
    field: "prompt",
    backend: "",
    cwd: setText(EMPTY_EDITOR, cwd),
    name: EMPTY_EDITOR,
    worktree: false,
    prompt: EMPTY_EDITOR,
    isSent: false,
  };
}

/** Clears a problem, which can only have been the missing list. */
export function setBackends({ problem: _past, ...form }: Form, backends: readonly string[]): Form {
  return { ...form, backends, backend: form.backend || (backends[0] ?? "") };
}

/** Shows why the daemon rejected it; editable again. */
export function showProblem(form: Form, problem: string): Form {
  return { ...form, isSent: false, problem };
}

export function onFormInput(before: Form, input: Input): "closed" | { form: Form; order?: SpawnOrder } {
  const typed = getTyped(input);
  if (typed === "escape" || typed === "ctrl-c") return "closed";
  if (before.isSent) return { form: before };
  const { problem: _seen, ...form } = before;
  if (typed === "ctrl-s") return submit(form);
  if (typed === "tab" || typed === "down") return { form: moveField(form, 1) };
  if (typed === "shift-tab" || typed === "up") return { form: moveField(form, -1) };
  if (typed === "enter") return form.field === "prompt" ? submit(form) : { form: moveField(form, 1) };
  if (form.field === "backend") return { form: chooseBackend(form, typed) };
  if (form.field === "worktree") return { form: chooseWorktree(form, typed) };
  const isBreak = typed === "alt-enter" || typed === "ctrl-j" || typed === "shift-enter";
  if (isBreak && form.field === "prompt") return { form: { ...form, prompt: insert(form.prompt, "\n") } };
  const editor = editWith(form[form.field], input, form.field !== "prompt") ?? form[form.field];
  return { form: { ...form, [form.field]: editor } };
}

function submit(form: Form): { form: Form; order?: SpawnOrder } {
  const cwd = expandText(form.cwd).trim();
  if (form.backend === "")
    return { form: { ...form, problem: "agents are not loaded yet; is the daemon running?" } };
  if (cwd === "") return { form: { ...form, field: "cwd", problem: "enter a directory" } };
  const name = expandText(form.name).trim();
  const order = {
    backend: form.backend,
    prompt: expandText(form.prompt).trim(),
    cwd,
    ...(name === "" ? {} : { name }),
    ...(form.worktree ? { worktree: true as const } : {}),
  };
  return { form: { ...form, isSent: true }, order };
}

function moveField(form: Form, by: 1 | -1): Form {
  const at = (FIELDS.indexOf(form.field) + by + FIELDS.length) % FIELDS.length;
  return { ...form, field: FIELDS[at] ?? "prompt" };
}

/** Left, Right and Space change it; so do the letters of the answers. */
function chooseWorktree(form: Form, typed: string): Form {
  if (typed === "y" || typed === "n") return { ...form, worktree: typed === "y" };
  const isToggle = typed === "left" || typed === "right" || typed === " ";
  return isToggle ? { ...form, worktree: !form.worktree } : form;
}

/** Left and Right wrap around; a letter selects the next name that starts with it. */
function chooseBackend(form: Form, typed: string): Form {
  const { backends = [], backend } = form;
  const at = backends.indexOf(backend);
  const around = (from: number): string => backends[(from + backends.length) % backends.length] ?? backend;
  if (typed === "left") return { ...form, backend: around(at - 1) };
  if (typed === "right" || typed === " ") return { ...form, backend: around(at + 1) };
  const order = backends.map((_, by) => around(at + 1 + by));
  return { ...form, backend: order.find((name) => name.startsWith(typed)) ?? backend };
}
