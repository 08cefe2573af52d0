// Every command of sm: help, completion and the program are made from this table.
import type { Command } from "./command.ts";
import { INTERRUPT, NAME, QUEUE, RM, STOP } from "./control.ts";
import { DOCTOR } from "./doctor.ts";
import { EVENTS } from "./events.ts";
import { ALL, CHILDREN, SHOW, STATUS } from "./listing.ts";
import { ANSWER, APPROVE, DECLINE, REQUESTS } from "./requests.ts";
import { SEND } from "./send.ts";
import { SPAWN } from "./spawn.ts";
import { TAIL } from "./tail.ts";
import { ATTACH, TUI } from "./tui.ts";
import { WAIT } from "./wait.ts";
import { WEB } from "./web.ts";

export interface Group {
  title: string;
  commands: readonly Command[];
}

export const GROUPS: readonly Group[] = [
  { title: "Begin and talk", commands: [SPAWN, SEND, WAIT] },
  { title: "Look", commands: [ALL, CHILDREN, STATUS, SHOW, TAIL, EVENTS] },
  { title: "Screens", commands: [TUI, ATTACH, WEB] },
  { title: "What agents ask", commands: [REQUESTS, APPROVE, DECLINE, ANSWER] },
  { title: "Steer", commands: [INTERRUPT, STOP, RM, NAME, QUEUE] },
  { title: "The program", commands: [DOCTOR] },
];

export const COMMANDS: readonly Command[] = GROUPS.flatMap(({ commands }) => commands);

export function findCommand(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name || command.aliases?.includes(name));
}
