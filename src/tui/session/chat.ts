// Keys in `chat`: messages, commands, history, and single letters that open pickers while the composer is empty. Nothing
// here answers a request.
import { readText } from "../../protocol/message-text.ts";
import { editWith } from "../composer/edit-keys.ts";
import { backspace, expandText, insert, isEmpty, resetEditor, setText } from "../composer/editor.ts";
import { leaveHistory, recall, remember } from "../composer/history.ts";
import { moveRow } from "../composer/layout.ts";
import { type Action, findAction } from "../keys/table.ts";
import { openPicker } from "../picker/picker.ts";
import type { Input } from "../screen-types.ts";
import type { Delivery } from "../types.ts";
import { onAnyKey } from "./any-key.ts";
import { toChord } from "./chord.ts";
import { onCompletionKey } from "./completion.ts";
import { scrollBy, toEnd, toggleFold } from "./scroll.ts";
import { getWaiting, isTurnRunning, omit, showNotice, step } from "./state.ts";
import type { Effect, SessionUi, Step, UiContext } from "./ui-types.ts";

/** Handled by the screen itself. */
const LEAVE_COMMANDS: readonly string[] = ["/exit", "/quit"];
const HELP_COMMAND = "/help";

/** One line that ends like the name of an image. */
const IMAGE_PATH = /^[^\n]{1,4096}\.(png|jpe?g|gif|webp)['"]?\s*$/i;

export function onChatInput(ui: SessionUi, input: Input, context: UiContext): Step {
  if (input.kind === "paste") {
    if (context.hasImages === true && IMAGE_PATH.test(input.text))
      return step(ui, { kind: "attach", path: input.text });
    return step(applyEdit(ui, input));
  }
  const chord = toChord(input);
  const completed = input.kind === "key" ? onCompletionKey(ui, chord) : undefined;
  if (completed !== undefined) return completed;
  const empty = isEmpty(ui.editor);
  if (empty && input.kind === "text") {
    const picker = context.pickers.find(({ key }) => key === input.text);
    if (picker !== undefined && getWaiting(ui).length === 0) return showPicker(ui, picker);
  }
  const isFold = chord === "tab" || ui.feed.focus !== undefined;
  const action = empty ? findAction(chord, "empty") : undefined;
  if (action !== undefined && (action !== "fold" || isFold)) return onEmptyKey(ui, action, context);
  if (input.kind === "key") {
    const chat = findAction(chord, "chat", "text");
    if (chat !== undefined) return onChatKey(ui, chat, input, context);
    const changed = applyEdit(ui, input);
    if (changed !== ui) return step(changed);
    return onAnyKey(ui, chord, context);
  }
  return step(applyEdit(ui, input));
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
      return step(toggleFold(ui, context));
    case "help":
      return step({ ...ui, overlay: { kind: "help", scroll: 0 } });
    default:
      return onAnyKey(ui, "ctrl-home", context);
  }
}

function onChatKey(ui: SessionUi, action: Action, input: Input, context: UiContext): Step {
  switch (action) {
    case "send":
      return send(ui, "queue", context);
    case "send_now":
      return send(ui, "now", context);
    case "steer":
      return send(ui, "steer", context);
    case "newline":
      return step(applyEdit(ui, { kind: "text", text: "\n" }));
    case "older":
      return step(moveVertically(ui, -1, context));
    case "newer":
      return step(moveVertically(ui, 1, context));
    case "complete":
      return step(ui.editor.text.startsWith("/") ? ui : toggleFold(ui, context));
    case "attach":
      if (context.hasImages === true) return step(ui, { kind: "attach" });
      return step(showNotice(ui, "info", "messages of this session cannot have images"));
    case "uncork":
      return takeBackQueued(ui);
    default:
      return step(applyEdit(ui, input));
  }
}

function applyEdit(ui: SessionUi, input: Input): SessionUi {
  const editor = editWith(ui.editor, input);
  if (editor === undefined || editor === ui.editor) return ui;
  const isChanged = editor.text !== ui.editor.text;
  return { ...ui, editor, history: isChanged ? leaveHistory(ui.history) : ui.history };
}

function send(ui: SessionUi, how: Delivery, context: UiContext): Step {
  const { editor } = ui;
  if (editor.cursor === editor.text.length && editor.text.endsWith("\\")) {
    return step({ ...ui, editor: insert(backspace(editor), "\n") });
  }
  const typed = expandText(editor);
  const text = typed.trim();
  if (text === "") return step(ui);
  // A leading space makes any text a message.
  const [word = ""] = /^\/\S+/.exec(typed.trimEnd()) ?? [];
  const command = context.commands.find(({ name }) => name === word);
  if (LEAVE_COMMANDS.includes(word) && word === text) return step(ui, { kind: "leave", code: 0 });
  if (word === HELP_COMMAND && word === text) {
    return step({ ...ui, editor: resetEditor(editor), overlay: { kind: "help", scroll: 0 } });
  }
  const picker = word === text ? context.pickers.find(({ key }) => key === word) : undefined;
  if (picker !== undefined) return showPicker({ ...ui, editor: resetEditor(editor) }, picker);
  if (command !== undefined) {
    if (isTurnRunning(ui) && !command.isAlways) {
      return step(showNotice(ui, "warn", `${word} needs an idle session: wait, or interrupt with Ctrl-C`));
    }
    return submit(ui, { kind: "command", name: word, rest: text.slice(word.length).trim() });
  }
  // Sending now interrupts the turn, which withdraws its requests, like `sm send --now`.
  const isInTheWay = getWaiting(ui).length > 0 && !(how === "now" && isTurnRunning(ui));
  if (isInTheWay) return step(showNotice(ui, "warn", explainGate(ui)));
  const message = word === "" && text.startsWith("/") ? ` ${text}` : text;
  return submit({ ...ui, history: remember(ui.history, message) }, { kind: "send", text: message, how });
}

function showPicker(ui: SessionUi, picker: UiContext["pickers"][number]): Step {
  const overlay = { kind: "picker", picker: openPicker(picker) } as const;
  return step({ ...ui, overlay }, { kind: "load_picker", key: picker.key });
}

function explainGate(ui: SessionUi): string {
  const count = getWaiting(ui).length;
  return `not sent: ${count === 1 ? "a request is" : `${count} requests are`} pending; Ctrl-N opens it`;
}

function submit(ui: SessionUi, effect: Effect): Step {
  const history = { entries: ui.history.entries, draft: "" };
  return step(toEnd({ ...omit(ui, "notice"), history, editor: resetEditor(ui.editor) }), effect);
}

function moveVertically(ui: SessionUi, by: 1 | -1, context: UiContext): SessionUi {
  const editor = moveRow(ui.editor, context.editorWidth, by);
  if (editor !== undefined) return { ...ui, editor };
  const found = recall(ui.history, by, expandText(ui.editor));
  if (found === undefined) return ui;
  return { ...ui, history: found.history, editor: setText(ui.editor, found.text) };
}

function takeBackQueued(ui: SessionUi): Step {
  const last = ui.view.queue.findLast(({ kind }) => kind === "user");
  if (last === undefined) return step(showNotice(ui, "info", "the queue has no message to edit"));
  const text = readText(last.message, "\n");
  return step(ui, { kind: "cancel_queued", message_id: last.message_id, text });
}
