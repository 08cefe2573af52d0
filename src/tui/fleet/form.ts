// The form of a new session: its fields and what keys do to them. Pure.
import { editWith } from "../composer/edit-keys.ts";
import { type Editor, EMPTY_EDITOR, insert, wholeText, withText } from "../composer/editor.ts";
import type { Input } from "../screen-types.ts";
import { typedOf } from "./keys.ts";

const FIELDS = ["backend", "cwd", "name", "prompt"] as const;
export type Field = (typeof FIELDS)[number];

export interface SpawnOrder {
  backend: string;
  prompt: string;
  cwd: string;
  name?: string;
}

export interface Form {
  field: Field;
  /** Absent until the daemon said which there are. */
  backends?: readonly string[];
  backend: string;
  cwd: Editor;
  name: Editor;
  prompt: Editor;
  /** What is wrong with it. */
  problem?: string;
  /** It was sent, and nothing can be changed any more. */
  isSent: boolean;
}

/** The agent is chosen already in most cases, so what one writes first is the task. */
export function newForm(cwd: string): Form {
  return {
    field: "prompt",
    backend: "",
    cwd: withText(EMPTY_EDITOR, cwd),
    name: EMPTY_EDITOR,
    prompt: EMPTY_EDITOR,
    isSent: false,
  };
}

/** What was wrong before was that they were not known. */
export function withBackends({ problem: _past, ...form }: Form, backends: readonly string[]): Form {
  return { ...form, backends, backend: form.backend || (backends[0] ?? "") };
}

/** It came back with an error. */
export function refused(form: Form, problem: string): Form {
  return { ...form, isSent: false, problem };
}

export function formKey(before: Form, input: Input): "closed" | { form: Form; order?: SpawnOrder } {
  const typed = typedOf(input);
  if (typed === "escape" || typed === "ctrl-c") return "closed";
  if (before.isSent) return { form: before };
  const { problem: _seen, ...form } = before;
  if (typed === "ctrl-s") return sent(form);
  if (typed === "tab" || typed === "down") return { form: stepped(form, 1) };
  if (typed === "shift-tab" || typed === "up") return { form: stepped(form, -1) };
  if (typed === "enter") return form.field === "prompt" ? sent(form) : { form: stepped(form, 1) };
  if (form.field === "backend") return { form: chosen(form, typed) };
  const isBreak = typed === "alt-enter" || typed === "ctrl-j" || typed === "shift-enter";
  if (isBreak && form.field === "prompt") return { form: { ...form, prompt: insert(form.prompt, "\n") } };
  const editor = editWith(form[form.field], input, form.field !== "prompt") ?? form[form.field];
  return { form: { ...form, [form.field]: editor } };
}

function sent(form: Form): { form: Form; order?: SpawnOrder } {
  const cwd = wholeText(form.cwd).trim();
  if (form.backend === "")
    return { form: { ...form, problem: "no agent is known yet: is the daemon there?" } };
  if (cwd === "") return { form: { ...form, field: "cwd", problem: "say in which directory it works" } };
  const name = wholeText(form.name).trim();
  const order = {
    backend: form.backend,
    prompt: wholeText(form.prompt).trim(),
    cwd,
    ...(name === "" ? {} : { name }),
  };
  return { form: { ...form, isSent: true }, order };
}

function stepped(form: Form, by: 1 | -1): Form {
  const at = (FIELDS.indexOf(form.field) + by + FIELDS.length) % FIELDS.length;
  return { ...form, field: FIELDS[at] ?? "prompt" };
}

/** Left and right go round; a letter takes the next one that begins with it. */
function chosen(form: Form, typed: string): Form {
  const { backends = [], backend } = form;
  const at = backends.indexOf(backend);
  const around = (from: number): string => backends[(from + backends.length) % backends.length] ?? backend;
  if (typed === "left") return { ...form, backend: around(at - 1) };
  if (typed === "right" || typed === " ") return { ...form, backend: around(at + 1) };
  const order = backends.map((_, by) => around(at + 1 + by));
  return { ...form, backend: order.find((name) => name.startsWith(typed)) ?? backend };
}
