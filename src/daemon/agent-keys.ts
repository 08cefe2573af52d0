// The settings of an agent that speaks ACP, `[agents.NAME]` in the config file, in one table. The loader and the
// documentation are made from it.
import { isAbsolute } from "node:path";
import * as z from "zod";

export interface AgentKey {
  check: z.ZodType;
  defaultText: string;
  meaning: string;
}

const absolute = z.string().refine((path) => isAbsolute(path), "expected an absolute path");
const text = z.string().min(1);

export const AGENT_KEYS = {
  command: {
    check: text,
    defaultText: "required",
    meaning: "The program: a path, or a name that is looked up on PATH.",
  },
  args: {
    check: z.array(z.string()).default([]),
    defaultText: "none",
    meaning: "Its arguments, as a list. There is no shell.",
  },
  env: {
    check: z.record(z.string().regex(/^[^=\0]+$/, "expected the name of a variable"), z.string()).default({}),
    defaultText: "none",
    meaning: "A table of variables, laid over the daemon's environment.",
  },
  process: {
    check: z.enum(["per-session", "shared"]).default("per-session"),
    defaultText: "per-session",
    meaning:
      "Whether its sessions share one process. Only for agents that keep many sessions apart; `BLEMEES_SESSION_ID` is then in `_meta.blemees.env` of the session, not in the environment.",
  },
  cwd: {
    check: absolute.optional(),
    defaultText: "the daemon's",
    meaning: "Where sessions work that name no `cwd`.",
  },
  cwd_within: {
    check: z.array(absolute).min(1).optional(),
    defaultText: "anywhere",
    meaning: "Sessions may work in these directories and below only.",
  },
  model: {
    check: text.optional(),
    defaultText: "the agent's",
    meaning: "The model of sessions that name none.",
  },
  mode: {
    check: text.optional(),
    defaultText: "the agent's",
    meaning: "The mode of sessions that name none.",
  },
  config: {
    check: z.record(text, z.union([z.string(), z.boolean()])).default({}),
    defaultText: "the agent's",
    meaning: "A table of the agent's other options by their id, where the session sets none.",
  },
  stall_s: {
    check: z.number().min(0).max(2_000_000).default(60),
    defaultText: "60",
    meaning:
      "A turn in which the agent says nothing for this long, runs no tool and asks nothing, is told as `stalled`; 0 never.",
  },
  start_s: {
    check: z.number().min(1).max(600).default(30),
    defaultText: "30",
    meaning: "How long it may take to start.",
  },
} as const satisfies Record<string, AgentKey>;

export type AgentKeyName = keyof typeof AGENT_KEYS;
export type AgentConfig = { [K in AgentKeyName]: z.infer<(typeof AGENT_KEYS)[K]["check"]> };
