// Completion in the composer: commands after `/`, files after `@`. A list above the composer; Tab or Enter takes a file, Tab
// completes a command, Up and Down select, Esc closes it.

import type { AgentCommand } from "../../client/http/types.ts";
import {
  applyCompletion,
  type CompletionOption,
  type CompletionTarget,
  findCompletionTarget,
  matchCommands,
  toFileOption,
} from "../../client/view/completion.ts";
import { setText } from "../composer/editor.ts";
import { leaveHistory } from "../composer/history.ts";
import { omit, step } from "./state.ts";
import type { SessionUi, Step, UiContext, UiEvent } from "./ui-types.ts";

export interface CompletionState {
  target: CompletionTarget;
  options: readonly CompletionOption[];
  /** The selected option. Commands start without one, so that Enter sends what was typed. */
  marked?: number;
  /** Closed with Esc: not shown again for this word. */
  isClosed?: true;
  /** Shown instead of options. */
  message?: string;
}

type CompletionContext = Pick<UiContext, "commands" | "endsWithScreen" | "hasFiles" | "hasAgentCommands">;

/** The options on the screen. */
export function listCompletions({ completion, overlay, mode }: SessionUi): readonly CompletionOption[] {
  if (completion?.isClosed === true || overlay !== undefined || mode !== "chat") return [];
  return completion?.options ?? [];
}

/** Keys while options are on the screen; undefined if the key has another meaning. */
export function onCompletionKey(ui: SessionUi, chord: string): Step | undefined {
  const options = listCompletions(ui);
  const { completion } = ui;
  if (completion === undefined || options.length === 0) return undefined;
  const { target, marked } = completion;
  switch (chord) {
    case "escape":
      return step({ ...ui, completion: { ...completion, isClosed: true } });
    case "up":
      return step(mark(ui, completion, (marked ?? options.length) - 1));
    case "down":
      return step(mark(ui, completion, (marked ?? -1) + 1));
    case "tab":
      return step(
        marked === undefined ? completeCommand(ui, target, options) : take(ui, target, options[marked]),
      );
    case "enter": {
      const option = marked === undefined ? undefined : options[marked];
      if (option === undefined || isWritten(ui, target, option)) return undefined;
      return step(take(ui, target, option));
    }
    default:
      return undefined;
  }
}

/** After a key: what the cursor is at now, and its options. */
export function followCompletion(before: SessionUi, { ui, effects }: Step, context: CompletionContext): Step {
  const isSame = before.editor === ui.editor && before.completion === ui.completion;
  if (isSame && before.mode === ui.mode) return { ui, effects };
  const target = ui.mode === "chat" ? findCompletionTarget(ui.editor.text, ui.editor.cursor) : undefined;
  if (target === undefined || (target.kind === "file" && !context.hasFiles)) {
    return { ui: ui.completion === undefined ? ui : omit(ui, "completion"), effects };
  }
  const known = ui.completion;
  const isSameWord = known?.target.kind === target.kind && known.target.from === target.from;
  if (isSameWord && known.isClosed === true)
    return { ui: { ...ui, completion: { ...known, target } }, effects };
  if (isSameWord && known.target.query === target.query) {
    return { ui: { ...ui, completion: { ...known, target } }, effects };
  }
  if (target.kind === "command") {
    const options = listCommands(target.query, ui.agentCommands, context);
    // They may have changed since the last command was written.
    const isNew = !isSameWord && context.hasAgentCommands;
    const loads = isNew ? [{ kind: "load_commands" } as const] : [];
    return { ui: { ...ui, completion: { target, options } }, effects: [...effects, ...loads] };
  }
  // The old options stay until the new ones are known.
  const options = isSameWord ? known.options : [];
  const completion = { target, options, ...(options.length === 0 ? {} : { marked: 0 }) };
  return { ui: { ...ui, completion }, effects: [...effects, { kind: "find_files", query: target.query }] };
}

/** The files were found. */
export function fillFiles(
  ui: SessionUi,
  { query, files, message }: Extract<UiEvent, { kind: "files" }>,
): SessionUi {
  const { completion } = ui;
  if (completion?.target.kind !== "file" || completion.target.query !== query) return ui;
  const { target, isClosed } = completion;
  const options = files.map(toFileOption);
  return {
    ...ui,
    completion: {
      target,
      options,
      ...(options.length === 0 ? {} : { marked: 0 }),
      ...(isClosed === true ? { isClosed } : {}),
      ...(message === undefined ? {} : { message }),
    },
  };
}

/** The agent's own commands are known. */
export function fillCommands(
  ui: SessionUi,
  agentCommands: readonly AgentCommand[],
  context: CompletionContext,
): SessionUi {
  const { completion } = ui;
  if (completion?.target.kind !== "command" || completion.marked !== undefined)
    return { ...ui, agentCommands };
  const options = listCommands(completion.target.query, agentCommands, context);
  return { ...ui, agentCommands, completion: { ...completion, options } };
}

/** Ours first: a message that starts with one of their names is not sent to the agent. */
function listCommands(
  query: string,
  agentCommands: readonly AgentCommand[] = [],
  { commands, endsWithScreen }: CompletionContext,
): CompletionOption[] {
  const own = [
    ...commands,
    { name: "/help", summary: "show all keys" },
    { name: "/exit", summary: endsWithScreen ? "stop and quit" : "quit; the session keeps running" },
  ];
  const names = new Set(own.map(({ name }) => name));
  const others = agentCommands
    .map(({ name, hint, description }) => ({
      name: `/${name}`,
      summary: [hint, description ?? "a command of the agent"].filter(Boolean).join(": "),
    }))
    .filter(({ name }) => !names.has(name));
  return matchCommands(query, [...own, ...others]).map(({ name, summary }) => ({
    value: name,
    label: name,
    detail: summary,
  }));
}

function mark(ui: SessionUi, completion: CompletionState, at: number): SessionUi {
  const count = completion.options.length;
  return { ...ui, completion: { ...completion, marked: (at + count) % count } };
}

/** As far as all names agree; the only one in full. */
function completeCommand(
  ui: SessionUi,
  target: CompletionTarget,
  options: readonly CompletionOption[],
): SessionUi {
  const [first] = options;
  if (first === undefined) return ui;
  let common = first.value;
  while (!options.every(({ value }) => value.startsWith(common))) common = common.slice(0, -1);
  if (options.length === 1) return take(ui, target, first);
  if (common.length <= target.query.length + 1) {
    return ui.completion === undefined ? ui : mark(ui, ui.completion, 0);
  }
  return { ...ui, editor: setText(ui.editor, common) };
}

function take(ui: SessionUi, target: CompletionTarget, option: CompletionOption | undefined): SessionUi {
  if (option === undefined) return ui;
  const next = applyCompletion(ui.editor.text, target, option);
  const taken = { ...ui, editor: { ...ui.editor, ...next }, history: leaveHistory(ui.history) };
  return option.isOpen === true ? taken : omit(taken, "completion");
}

/** Enter sends a message that ends with the selected name. */
function isWritten(
  { editor }: SessionUi,
  { from, to }: CompletionTarget,
  { value }: CompletionOption,
): boolean {
  return editor.text.slice(from, to) === value;
}
