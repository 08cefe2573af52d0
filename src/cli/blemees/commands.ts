// Every command of blemees (sm), in the order of its help.
import type { Group } from "../program.ts";
import { ACP } from "./acp.ts";
import { AUDIT } from "./audit.ts";
import { BUDGET } from "./budget.ts";
import { DIFF, UNDO } from "./changes.ts";
import { CLAUDE } from "./claude.ts";
import type { BlemeesContext } from "./command.ts";
import { INTERRUPT, NAME, QUEUE, RM, STOP } from "./control.ts";
import { DAEMON } from "./daemon.ts";
import { DOCTOR } from "./doctor.ts";
import { EVENTS } from "./events.ts";
import { EXPORT } from "./export.ts";
import { ALL, CHILDREN, SHOW, STATUS } from "./listing.ts";
import { ARCHIVE, LABEL, UNARCHIVE } from "./marks.ts";
import { MCP } from "./mcp.ts";
import { ADOPT } from "./outside.ts";
import { POLICY } from "./policy.ts";
import { PR } from "./pr.ts";
import { QUOTA } from "./quota.ts";
import { ANSWER, APPROVE, DECLINE, REQUESTS } from "./requests.ts";
import { RESUME } from "./resume.ts";
import { SEARCH } from "./search.ts";
import { SEND } from "./send.ts";
import { SET } from "./set.ts";
import { SPAWN } from "./spawn.ts";
import { TAIL } from "./tail.ts";
import { ATTACH, TUI } from "./tui.ts";
import { USAGE } from "./usage.ts";
import { WAIT } from "./wait.ts";
import { WEB } from "./web.ts";
import { RUN, WIRE } from "./wire.ts";
import { WORKTREES } from "./worktrees.ts";

export const GROUPS: readonly Group<BlemeesContext>[] = [
  { title: "Start and talk", commands: [SPAWN, SEND, WAIT, ADOPT, RUN] },
  {
    title: "Inspect",
    commands: [ALL, CHILDREN, STATUS, SHOW, TAIL, DIFF, EVENTS, SEARCH, EXPORT, USAGE, QUOTA],
  },
  { title: "Screens", commands: [TUI, ATTACH, WEB] },
  { title: "Answer requests", commands: [REQUESTS, APPROVE, DECLINE, ANSWER, POLICY, AUDIT] },
  { title: "Control", commands: [INTERRUPT, STOP, RESUME, SET, UNDO, RM, QUEUE, BUDGET] },
  { title: "Order", commands: [NAME, LABEL, ARCHIVE, UNARCHIVE] },
  { title: "Work in repositories", commands: [WORKTREES, PR] },
  { title: "Other", commands: [ACP, CLAUDE, MCP, DAEMON, DOCTOR, WIRE] },
];
