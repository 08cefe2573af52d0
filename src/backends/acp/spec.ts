// One ACP agent: how it is started, and what its sessions are by default.
import type { Log } from "../../base/log.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface AcpSpec {
  /** The name on the wire, and of its options: `options.<name>`. */
  name: string;
  /** A path, or a name that is looked up on PATH. */
  command: string;
  args?: readonly string[];
  /** Laid over what it inherits. */
  env?: Readonly<Record<string, string>>;
  /** Whether its sessions share a process. */
  process?: "shared" | "per-session";
  /** Where sessions work that name no directory; absent: where the daemon was started. */
  cwd?: string;
  /** Sessions may work in these directories and below only; absent: anywhere. */
  cwdWithin?: readonly string[];
  model?: string;
  mode?: string;
  config?: Readonly<Record<string, string | boolean>>;
  /** A turn in which the agent says nothing for so long is told as stalled; 0: never. */
  stallMs?: number;
  /** How long it may take to answer the handshake. */
  handshakeMs?: number;
  /** Our own: it takes model and mode with the session, before it looks for a provider. */
  isOurs?: boolean;
  /** Its sessions may be told whether they have one agent or several. */
  hasAgentModes?: boolean;
  /** Whether it could do anything; asked when agents are looked for. Absent: it could. */
  isReady?(): Promise<boolean>;
  /** Known without asking it. */
  version?: string;
  /** Files without which there is nothing to start. */
  needs?: readonly string[];
  /** What to do when it is not there, for messages to people. */
  advice?: string;
}

/** What every agent gets from the daemon. */
export interface AcpHost {
  /** What every process inherits. */
  env: Environment;
  /** Longer lines of its stdout are skipped. */
  maxLineBytes?: number;
  /** How long a shared process outlives its last session. */
  lingerMs?: number;
  limits?: Partial<Limits>;
  /** For what concerns no session. */
  log?: Log;
  /** For tests. */
  clock?: Clock;
}

/** How long we wait for what. */
export interface Limits {
  /** session/new, load, resume: MCP servers of the user may be slow. */
  openMs: number;
  settingMs: number;
  /** From session/cancel to the answer of the prompt. */
  cancelMs: number;
  closeMs: number;
  /** From the end of stdin to SIGTERM, and from there to SIGKILL. */
  finishMs: number;
  graceMs: number;
  /** A replay that comes behind the answer to session/load is over when it was quiet for so long. */
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
