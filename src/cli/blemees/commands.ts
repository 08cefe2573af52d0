// Every command of blemees (sm), in the order of its help.
import type { Group } from "../program.ts";
import { AUDIT } from "./audit.ts";
import { DIFF, UNDO } from "./changes.ts";
import type { BlemeesContext } from "./command.ts";
import { INTERRUPT, NAME, QUEUE, RM, STOP } from "./control.ts";
import { DAEMON } from "./daemon.ts";
import { DOCTOR } from "./doctor.ts";
import { EVENTS } from "./events.ts";
import { ALL, CHILDREN, SHOW, STATUS } from "./listing.ts";
import { POLICY } from "./policy.ts";
import { ANSWER, APPROVE, DECLINE, REQUESTS } from "./requests.ts";
import { SEND } from "./send.ts";
import { SPAWN } from "./spawn.ts";
import { TAIL } from "./tail.ts";
import { ATTACH, TUI } from "./tui.ts";
import { WAIT } from "./wait.ts";
import { WEB } from "./web.ts";
import { RUN, WIRE } from "./wire.ts";

export const GROUPS: readonly Group<BlemeesContext>[] = [
  { title: "Start and talk", commands: [SPAWN, SEND, WAIT, RUN] },
  { title: "Inspect", commands: [ALL, CHILDREN, STATUS, SHOW, TAIL, DIFF, EVENTS] },
  { title: "Screens", commands: [TUI, ATTACH, WEB] },
  { title: "Answer requests", commands: [REQUESTS, APPROVE, DECLINE, ANSWER, POLICY, AUDIT] },
  { title: "Control", commands: [INTERRUPT, STOP, UNDO, RM, NAME, QUEUE] },
  { title: "Other", commands: [DAEMON, DOCTOR, WIRE] },
];
