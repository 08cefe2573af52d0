import { expect, test } from "vitest";
import { describeUndo, toUndoQuestion } from "../../../src/client/view/change-undo.ts";
import type { UndoneFile, UndoReply } from "../../../src/protocol/changes.ts";

const aUndo = (files: UndoneFile[], more: Partial<UndoReply> = {}): UndoReply => ({
  session_id: "s",
  turn: 2,
  done: false,
  files,
  conversation: { rewound: false },
  ...more,
});

test("the question lists what happens to each file", () => {
  const files: UndoneFile[] = [
    { path: "src/a.ts", action: "restore" },
    { path: "new.ts", action: "delete" },
    { path: "gone\n• x", action: "create" },
  ];
  const conversation = { rewound: false, reason: "demo cannot forget turns" };
  expect(toUndoQuestion(aUndo(files, { conversation }), 1)).toEqual({
    title: "Undo turn 2?",
    text: [
      "The files get the content they had before turn 2 and the turn after it. The current content is kept in a checkpoint.",
      "The conversation stays as it is: demo cannot forget turns.",
      "",
      "• restore src/a.ts",
      "• delete new.ts",
      "• create again gone • x",
    ].join("\n"),
    action: "Undo 3 files",
    needsForce: false,
    canForget: false,
  });
  expect(toUndoQuestion(aUndo([]), 0)).toBeUndefined();
});

test("the question says whether the agent forgets the turns too, also if no file was changed", () => {
  const conversation = { rewound: false, is_possible: true };
  const question = toUndoQuestion(aUndo([], { conversation }), 0);
  expect(question?.canForget).toBe(true);
  expect(question?.text).toBe(
    "No file was changed in turn 2.\nThe agent forgets turn 2 and later too. History keeps them.",
  );
});

test("files that others changed since are named first, and the button says that they are overwritten", () => {
  const question = toUndoQuestion(
    aUndo([
      { path: "a", action: "restore" },
      { path: "b", action: "refused", reason: "changed since turn 2" },
    ]),
    0,
  );
  expect(question).toMatchObject({ needsForce: true, action: "Overwrite 2 files" });
  expect(question?.text).toMatch(
    /overwritten if you continue:\n• b \(changed since turn 2\)\n\n• restore a$/,
  );
});

test("a long list is cut", () => {
  const files = Array.from({ length: 40 }, (_, at): UndoneFile => ({ path: `f${at}`, action: "restore" }));
  expect(toUndoQuestion(aUndo(files), 0)?.text).toMatch(/• restore f11\n… and 28 more$/);
});

test("the report says whether the conversation was rewound", () => {
  const files: UndoneFile[] = [{ path: "a", action: "restore" }];
  expect(describeUndo(aUndo(files))).toBe("Turn 2 was not undone.");
  const refused: UndoneFile = { path: "b", action: "refused", reason: "too large" };
  expect(describeUndo(aUndo([...files, refused]))).toBe("Turn 2 was not undone: b (too large).");
  expect(describeUndo(aUndo(files, { done: true, conversation: { rewound: true } }))).toBe(
    "Undid turn 2: 1 file. The agent has forgotten these turns too.",
  );
  expect(
    describeUndo(aUndo(files, { done: true, conversation: { rewound: false, reason: "the agent cannot" } })),
  ).toBe(
    "Undid turn 2: 1 file. The agent still remembers these turns: the agent cannot. Say in the next message that they were undone.",
  );
  const partly = { rewound: false, turn: 3, reason: "not the first" };
  expect(describeUndo(aUndo(files, { done: true, conversation: partly }))).toBe(
    "Undid turn 2: 1 file. The agent has forgotten turn 3 and later only: not the first.",
  );
});
