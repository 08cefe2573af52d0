// Settings of an ACP agent, `[agents.NAME]` in the config file, in one table. Source of the loader and docs/config.md.
import { isAbsolute } from "node:path";
import * as z from "zod";
import type { TableKey, TableValues } from "./named-tables.ts";

const absolute = z.string().refine((path) => isAbsolute(path), "expected an absolute path");
const text = z.string().min(1);

export const AGENT_KEYS = {
  command: {
    check: text,
    defaultText: "required",
    meaning: "The program: a path, or a name to find on PATH.",
  },
  args: {
    check: z.array(z.string()).default([]),
    defaultText: "none",
    meaning: "Its arguments, as a list. There is no shell.",
  },
  env: {
    check: z.record(z.string().regex(/^[^=\0]+$/, "expected a variable name"), z.string()).default({}),
    defaultText: "none",
    meaning: "Variables added to the daemon's environment.",
    isSecret: true,
  },
  process: {
    check: z.enum(["per-session", "shared"]).default("per-session"),
    defaultText: "per-session",
    meaning:
      "Whether its sessions share one process. Only for agents that support several sessions; `BLEMEES_SESSION_ID` is then in `_meta.blemees.env` of the session, not in the environment.",
  },
  cwd: {
    check: absolute.optional(),
    defaultText: "the daemon's",
    meaning: "Default `cwd` of sessions.",
  },
  cwd_within: {
    check: z.array(absolute).min(1).optional(),
    defaultText: "anywhere",
    meaning: "Allowed working directories, including their subdirectories.",
  },
  model: {
    check: text.optional(),
    defaultText: "the agent's",
    meaning: "Default model of sessions.",
  },
  mode: {
    check: text.optional(),
    defaultText: "the agent's",
    meaning: "Default mode of sessions.",
  },
  config: {
    check: z.record(text, z.union([z.string(), z.boolean()])).default({}),
    defaultText: "the agent's",
    meaning: "Defaults of the agent's other options, by id.",
  },
  stall_s: {
    check: z.number().min(0).max(2_000_000).default(60),
    defaultText: "60",
    meaning:
      "A turn in which the agent sends nothing for this long, runs no tool and waits for no answer is reported as `stalled`; 0 disables.",
  },
  start_s: {
    check: z.number().min(1).max(600).default(30),
    defaultText: "30",
    meaning: "Timeout for the agent's start.",
  },
} as const satisfies Record<string, TableKey>;

export type AgentConfig = TableValues<typeof AGENT_KEYS>;
