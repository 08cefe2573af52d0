// Keys in `chat`: writing a message, commands, history, and what single letters open while nothing is written. Nothing
// in here answers a request.
import { textOf } from "../../protocol/message-text.ts";
import { editWith } from "../composer/edit-keys.ts";
import { backspace, emptied, insert, isEmpty, wholeText, withText } from "../composer/editor.ts";
import { forgetPlace, recall, remember } from "../composer/history.ts";
import { moveRow } from "../composer/layout.ts";
import { type Action, actionOf } from "../keys/table.ts";
import { openPicker } from "../picker/picker.ts";
import type { Input } from "../screen-types.ts";
import { onAnyKey } from "./any-key.ts";
import { chordOf } from "./chord.ts";
import { scrollBy, toEnd, turnFold } from "./scroll.ts";
import { isTurnRunning, step, told, waiting, without } from "./state.ts";
import type { Effect, SessionUi, Step, UiContext } from "./ui-types.ts";

/** With these the screen deals itself. */
const LEAVE_COMMANDS: readonly string[] = ["/exit", "/quit"];
const HELP_COMMAND = "/help";

export function onChatInput(ui: SessionUi, input: Input, context: UiContext): Step {
  if (input.kind === "paste") return step(edited(ui, input));
  const chord = chordOf(input);
  const empty = isEmpty(ui.editor);
  if (empty && input.kind === "text") {
    const picker = context.pickers.find(({ key }) => key === input.text);
    if (picker !== undefined && waiting(ui).length === 0) {
      return step(
        { ...ui, overlay: { kind: "picker", picker: openPicker(picker) } },
        {
          kind: "load_picker",
          key: picker.key,
        },
      );
    }
  }
  const isFold = chord === "tab" || ui.feed.focus !== undefined;
  const action = empty ? actionOf(chord, "empty") : undefined;
  if (action !== undefined && (action !== "fold" || isFold)) return onEmptyKey(ui, action, context);
  if (input.kind === "key") {
    const chat = actionOf(chord, "chat", "text");
    if (chat !== undefined) return onChatKey(ui, chat, input, context);
    const changed = edited(ui, input);
    if (changed !== ui) return step(changed);
    return onAnyKey(ui, chord, context);
  }
  return step(edited(ui, input));
}

function onEmptyKey(ui: SessionUi, action: Action, context: UiContext): Step {
  const half = Math.max(1, Math.floor(context.feedHeight / 2));
  switch (action) {
    case "half_up":
      return step(scrollBy(ui, -half, context));
    case "half_down":
      return step(scrollBy(ui, half, context));
    case "bottom":
      return step(toEnd(ui));
    case "fold":
      return step(turnFold(ui, context));
    case "help":
      return step({ ...ui, overlay: { kind: "help", scroll: 0 } });
    default:
      return onAnyKey(ui, "ctrl-home", context);
  }
}

function onChatKey(ui: SessionUi, action: Action, input: Input, context: UiContext): Step {
  switch (action) {
    case "send":
      return send(ui, false, context);
    case "send_now":
      return send(ui, true, context);
    case "newline":
      return step(edited(ui, { kind: "text", text: "\n" }));
    case "older":
      return step(vertical(ui, -1, context));
    case "newer":
      return step(vertical(ui, 1, context));
    case "complete":
      return step(complete(ui, context));
    case "uncork":
      return uncork(ui);
    default:
      return step(edited(ui, input));
  }
}

function edited(ui: SessionUi, input: Input): SessionUi {
  const editor = editWith(ui.editor, input);
  if (editor === undefined || editor === ui.editor) return ui;
  const isChanged = editor.text !== ui.editor.text;
  return { ...ui, editor, history: isChanged ? forgetPlace(ui.history) : ui.history };
}

function send(ui: SessionUi, isNow: boolean, context: UiContext): Step {
  const { editor } = ui;
  if (editor.cursor === editor.text.length && editor.text.endsWith("\\")) {
    return step({ ...ui, editor: insert(backspace(editor), "\n") });
  }
  const typed = wholeText(editor);
  const text = typed.trim();
  if (text === "") return step(ui);
  // Behind a blank it is a message, whatever it looks like.
  const [word = ""] = /^\/\S+/.exec(typed.trimEnd()) ?? [];
  const command = context.commands.find(({ name }) => name === word);
  if (LEAVE_COMMANDS.includes(word) && word === text) return step(ui, { kind: "leave", code: 0 });
  if (word === HELP_COMMAND && word === text) {
    return step({ ...ui, editor: emptied(editor), overlay: { kind: "help", scroll: 0 } });
  }
  if (command !== undefined) {
    if (isTurnRunning(ui) && !command.isAlways) {
      return step(told(ui, "warn", `${word} works when no turn runs: wait, or Ctrl-C interrupts`));
    }
    return sent(ui, { kind: "command", name: word, rest: text.slice(word.length).trim() });
  }
  // Sending now interrupts the turn, which takes its requests back with it; so `sm send --now` does.
  const isInTheWay = waiting(ui).length > 0 && !(isNow && isTurnRunning(ui));
  if (isInTheWay) return step(told(ui, "warn", gateText(ui)));
  const message = word === "" && text.startsWith("/") ? ` ${text}` : text;
  return sent({ ...ui, history: remember(ui.history, message) }, { kind: "send", text: message, isNow });
}

/** Why a message cannot be sent now, and which key helps. */
function gateText(ui: SessionUi): string {
  const count = waiting(ui).length;
  return `not sent: ${count === 1 ? "a request waits" : `${count} requests wait`} for an answer; Ctrl-N turns to it`;
}

function sent(ui: SessionUi, effect: Effect): Step {
  const history = { entries: ui.history.entries, draft: "" };
  return step(toEnd({ ...without(ui, "notice"), history, editor: emptied(ui.editor) }), effect);
}

function vertical(ui: SessionUi, by: 1 | -1, context: UiContext): SessionUi {
  const editor = moveRow(ui.editor, context.editorWidth, by);
  if (editor !== undefined) return { ...ui, editor };
  const found = recall(ui.history, by, wholeText(ui.editor));
  if (found === undefined) return ui;
  return { ...ui, history: found.history, editor: withText(ui.editor, found.text) };
}

/** What the beginning of a command can become. */
export function completions(
  ui: SessionUi,
  { commands, endsWithScreen }: Pick<UiContext, "commands" | "endsWithScreen">,
) {
  const { text } = ui.editor;
  if (!/^\/\S*$/.test(text)) return [];
  const own = [
    { name: HELP_COMMAND, summary: "every key" },
    { name: "/exit", summary: endsWithScreen ? "stop what runs, and leave" : "leave; the session goes on" },
  ];
  return [...commands, ...own].filter(({ name }) => name.startsWith(text));
}

function complete(ui: SessionUi, context: UiContext): SessionUi {
  const names = completions(ui, context).map(({ name }) => name);
  const [first] = names;
  if (first === undefined) return ui.editor.text.startsWith("/") ? ui : turnFold(ui, context);
  let common = first;
  while (!names.every((name) => name.startsWith(common))) common = common.slice(0, -1);
  const text = names.length === 1 ? `${first} ` : common;
  return { ...ui, editor: withText(ui.editor, text) };
}

function uncork(ui: SessionUi): Step {
  const last = ui.view.queue.findLast(({ kind }) => kind === "user");
  if (last === undefined) return step(told(ui, "info", "no message waits in the queue"));
  const text = textOf(last.message, "\n");
  return step(ui, { kind: "cancel_queued", message_id: last.message_id, text });
}
