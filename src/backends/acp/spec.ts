// One ACP agent: how to start it, and defaults of its sessions.

import type { Log } from "../../base/log.ts";
import type { RunsHost } from "../runs-host.ts";
import type { Environment } from "../types.ts";

export interface AcpSpec {
  /** The name on the wire, and of its options: `options.<name>`. */
  name: string;
  /** A path, or a name on PATH. */
  command: string;
  args?: readonly string[];
  /** Overrides the inherited environment. */
  env?: Readonly<Record<string, string>>;
  /** Whether its sessions share a process. */
  process?: "shared" | "per-session";
  /** Default working directory; absent: the daemon's. */
  cwd?: string;
  /** Sessions may only work in these directories and below; absent: anywhere. */
  cwdWithin?: readonly string[];
  model?: string;
  mode?: string;
  config?: Readonly<Record<string, string | boolean>>;
  /** A turn that is silent this long is reported as stalled; 0 disables. */
  stallMs?: number;
  /** Timeout of the handshake. */
  handshakeMs?: number;
  /** Our own agent: takes model and mode with the session, before it looks for a provider. */
  isOurs?: boolean;
  /** Its sessions accept the option for one or several agents. */
  hasAgentModes?: boolean;
  /** Whether it is usable; checked when agents are detected. Absent: yes. */
  isReady?(): Promise<boolean>;
  /** Known without asking it. */
  version?: string;
  /** Files it needs to start. */
  needs?: readonly string[];
  /** What to do if it is missing, for error messages. */
  advice?: string;
}

/** What the daemon passes to every agent. */
export interface AcpHost {
  /** Inherited by every process. */
  env: Environment;
  /** Longer stdout lines are skipped. */
  maxLineBytes?: number;
  /** How long a shared process outlives its last session. */
  lingerMs?: number;
  limits?: Partial<Limits>;
  /** For messages that concern no session. */
  log?: Log;
  /** Absent: agents end with the daemon. */
  runs?: RunsHost | undefined;
  /** For tests. */
  clock?: Clock;
}

/** Timeouts. */
export interface Limits {
  /** session/new, load, resume: MCP servers of the user may be slow. */
  openMs: number;
  settingMs: number;
  /** From session/cancel to the response of the prompt. */
  cancelMs: number;
  closeMs: number;
  /** From the end of stdin to SIGTERM, and from there to SIGKILL. */
  finishMs: number;
  graceMs: number;
  /** A replay after the response to session/load is over after this much silence. */
  quietMs: number;
}

export const LIMITS: Limits = {
  openMs: 60_000,
  settingMs: 15_000,
  cancelMs: 5000,
  closeMs: 2000,
  finishMs: 3000,
  graceMs: 3000,
  quietMs: 250,
};

export interface Clock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

export const CLOCK: Clock = {
  now: () => Date.now(),
  sleep: (ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    }),
};
