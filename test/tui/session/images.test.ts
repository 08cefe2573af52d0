// Images in the composer of the terminal: from a pasted path, and from the clipboard.
import { expect, test } from "vitest";
import { expandText } from "../../../src/tui/composer/editor.ts";
import { keys, Player, typed } from "../support/ui.ts";

const LABEL = "[image 1: shot.png]";
const paste = (text: string) => ({ kind: "paste", text }) as const;

test("a pasted path of an image asks for it, and its label is one character that is sent as text", () => {
  const player = new Player({ hasImages: true }).press(...typed("see "), paste("/tmp/shot.png"));
  expect(player.effects).toEqual([{ kind: "attach", path: "/tmp/shot.png" }]);
  expect(expandText(player.ui.editor)).toBe("see ");
  player.event({ kind: "attached", label: LABEL }).draw();
  expect(player.screen()).toContain(`see ${LABEL}`);
  player.press(...keys("enter"));
  expect(player.effects.at(-1)).toEqual({ kind: "send", text: `see ${LABEL}`, how: "queue" });
});

test("Backspace removes the whole label", () => {
  const player = new Player({ hasImages: true }).event({ kind: "attached", label: LABEL });
  expect(expandText(player.press(...keys("backspace")).ui.editor)).toBe("");
});

test("a path that is no image is text, and so is every path where messages have no images", () => {
  const player = new Player({ hasImages: true }).press(paste("/tmp/none.png"));
  player.event({ kind: "not_attached", text: "/tmp/none.png" });
  expect(expandText(player.ui.editor)).toBe("/tmp/none.png");
  const other = new Player().press(paste("/tmp/shot.png"));
  expect(other.effects).toEqual([]);
  expect(expandText(other.ui.editor)).toBe("/tmp/shot.png");
});

test.each(["one.png\ntwo.png", "notes.txt", "see shot.png please"])("%j is pasted as text", (text) => {
  const player = new Player({ hasImages: true }).press(paste(text));
  expect(player.effects).toEqual([]);
  expect(expandText(player.ui.editor)).toBe(text);
});

test("Ctrl-V takes the image in the clipboard, or says that there is no place for it", () => {
  expect(new Player({ hasImages: true }).press(...keys("ctrl-v")).effects).toEqual([{ kind: "attach" }]);
  const other = new Player().press(...keys("ctrl-v"));
  expect(other.effects).toEqual([]);
  expect(other.ui.notice?.text).toBe("messages of this session cannot have images");
});
