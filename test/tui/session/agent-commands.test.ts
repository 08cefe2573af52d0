// The agent's own commands in the completion, and commands that open a picker.
import { expect, test } from "vitest";
import { keys, Player, typed } from "../support/ui.ts";

const OWN = [{ name: "/stop", summary: "stop the agent" }];
const AGENTS = [
  { name: "compact", description: "shorten the conversation", hint: "[what to keep]" },
  { name: "stop", description: "hidden by ours" },
  { name: "review" },
];
const names = (player: Player): string[] => (player.ui.completion?.options ?? []).map(({ label }) => label);

function player(): Player {
  return new Player({ commands: OWN, hasAgentCommands: true });
}

test("are read when a command is begun, once, and listed after ours, which hide those of the same name", () => {
  const at = player().press(...typed("/"));
  expect(at.effects).toEqual([{ kind: "load_commands" }]);
  expect(names(at)).toEqual(["/stop", "/help", "/exit"]);
  at.event({ kind: "agent_commands", commands: AGENTS });
  expect(names(at)).toEqual(["/stop", "/help", "/exit", "/compact", "/review"]);
  expect(names(at.press(...typed("co")))).toEqual(["/compact"]);
  expect(at.screen()).toContain("/compact  [what to keep]: shorten the conversation");
  expect(at.effects).toHaveLength(1);
});

test("are completed, and sent to the agent as they are written", () => {
  const at = player()
    .press(...typed("/"))
    .event({ kind: "agent_commands", commands: AGENTS });
  at.press(...typed("com"), ...keys("tab"), ...typed("the tests"), ...keys("enter"));
  expect(at.effects.at(-1)).toEqual({ kind: "send", text: "/compact the tests", how: "queue" });
});

test("a list that comes late does not move the selection, or open a list that was closed", () => {
  const late = { kind: "agent_commands", commands: AGENTS } as const;
  const marked = player()
    .press(...typed("/"), ...keys("down"))
    .event(late);
  expect(names(marked)).toEqual(["/stop", "/help", "/exit"]);
  const gone = player()
    .press(...typed("/"), ...keys("backspace"))
    .event(late);
  expect(gone.ui.completion).toBeUndefined();
  expect(names(gone.press(...typed("/re")))).toEqual(["/review"]);
});

test("where the agent's commands cannot be known nothing is read", () => {
  expect(new Player({ commands: OWN }).press(...typed("/")).effects).toEqual([]);
});

test("a command without its argument opens its picker, whose letters only filter; with one it runs", () => {
  const pickers = [{ key: "/model", title: "model", takesText: true }];
  const commands = [{ name: "/model", summary: "change the model", isAlways: true as const }];
  const at = new Player({ commands, pickers }).press(...typed("/model"), ...keys("enter"));
  expect(at.effects).toEqual([{ kind: "load_picker", key: "/model" }]);
  at.event({ kind: "picker", key: "/model", options: [{ value: "small", label: "small" }] });
  at.press(...typed("large x"), ...keys("enter"));
  expect(at.effects.at(-1)).toEqual({ kind: "choose", key: "/model", value: "large x", label: "large x" });
  expect(at.screen()).not.toContain("/model model");
  const direct = new Player({ commands, pickers }).press(...typed("/model small"), ...keys("enter"));
  expect(direct.effects).toEqual([{ kind: "command", name: "/model", rest: "small" }]);
});
