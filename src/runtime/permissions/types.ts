// Who may do what. Rules come from agents and from the configuration; grants from a person's "always".
import type { FileChange } from "../workspace/types.ts";

export const DECISIONS = ["allow", "ask", "deny"] as const;
export type Decision = (typeof DECISIONS)[number];

export interface PermissionRule {
  /** A name, or "*". `demian.bash` is `bash`; tools of another executor have its name before the dot: `claudecode.Bash`. */
  tool: string;
  match?:
    | {
        pathGlob?: string | undefined;
        /** Words at the beginning of a command. In an allow rule it fits plain commands only (permissions/command.ts). */
        commandPrefix?: string | undefined;
      }
    | undefined;
  decision: Decision;
  reason?: string | undefined;
}

/** What a call touches. */
export type PermissionTarget =
  | { kind: "path"; access: "read" | "write"; lexical: string; real: string }
  | { kind: "command"; command: string; cwd: string; resolved?: ResolvedCommand }
  | { kind: "agent"; agent: string; provider: string; digest?: string }
  | { kind: "other"; key: string };

/** A plain command whose program is certain and none that the agent could have made; the gate finds it out. */
export interface ResolvedCommand {
  argv: readonly string[];
  /** Absolute and real. */
  executable: string;
  /** "Always" may be offered for exactly this, and one that was given counts. */
  isGrantable: boolean;
}

export interface PermissionCall {
  tool: string;
  targets: readonly PermissionTarget[];
}

/** Everything that decides, so that deciding is a pure function (permissions/evaluate.ts). */
export interface Policy {
  /** With several agents, an agent's own denial is a question to the person (§6). */
  mode?: "single-agent" | "multi-agent";
  /** Who runs the tool, where it is not demian: its rules are called `claudecode.Bash`. */
  executor?: string;
  /** Of a sub-agent: all that it may reach below `.demian`. */
  ownFiles?: ReadonlySet<string>;
  /** From the user's configuration: their denials dominate everything but the built-in ones. */
  globalRules: readonly PermissionRule[];
  agentRules: readonly PermissionRule[];
  agentDefault?: Decision;
  /** What the tool itself suggests. */
  toolDefault?: Decision;
  rootDefault?: Decision;
  grants: readonly Grant[];
  /** Paths below the workspace that nobody may touch: our own state, when the workspace is the home directory. */
  hidden?: readonly string[];
  nowMs: number;
}

export interface Verdict {
  decision: Decision;
  /** Which step of the order decided. */
  by: "hard_deny" | "global_deny" | "grant" | "rule" | "agent_deny" | "agent_default" | "default";
  reason?: string;
}

/** What a person allowed for longer than once. */
export interface Grant {
  key: GrantKey;
  scope: "session" | "project";
  grantedAtMs: number;
  /** Absent: as long as the session. */
  expiresAtMs?: number;
}

export type GrantKey =
  | {
      kind: "command";
      argv: readonly string[];
      executable: string;
      cwd: string;
      /** Who runs it, where it is not demian. */
      executor?: string | undefined;
    }
  | { kind: "write"; tool: string; directory: string }
  | { kind: "agent"; agent: string; provider: string; digest?: string | undefined }
  | { kind: "other"; tool: string; key: string };

/** What a person is asked. It shows exactly what will happen. */
export interface PermissionPrompt {
  sessionId: string;
  callId: string;
  agent: string;
  /** The sub-agents from below the main agent down to the one that asks; absent for the main agent. */
  agentPath?: readonly string[];
  /** With `agentPath`: the main agent above them. */
  mainAgent?: string;
  /** The agent's own rules deny it: only a person can go beyond them, `--yes` does not. */
  widens?: true;
  /** Who will run it, where it is not demian: "claudecode". */
  executor?: string;
  tool: string;
  title: string;
  /** Another agent starts: which, where it thinks, and what it is given, word for word. */
  invocation?: {
    agent: string;
    provider: string;
    model: string;
    crossesProvider: boolean;
    /** Where the agent came from, where that was not you. */
    origin?: string;
    receives: readonly string[];
    handoff: string;
  };
  command?: string;
  cwd?: string;
  changes?: readonly FileChange[];
  /** The tool's checked input. */
  input: unknown;
  /** Why it is asked, where a rule says so. */
  reason?: string;
  /** How a command will be held: "linux-bwrap", "off", … */
  sandbox?: string;
  /** What "always" would allow, in words; absent: it is not offered. */
  always?: string;
}

export interface PermissionAnswer {
  decision: "allow" | "deny";
  /** Only with allow, and only when it was offered. */
  always?: boolean;
  /** Told to the model with a refusal. */
  reason?: string;
  /** Refuse, and end the turn. */
  stop?: boolean;
  /** Only with deny: there was no person to ask. Absent: a person answered. */
  by?: "nobody";
}

/** How a face asks its person. Rejects or denies when the signal aborts. */
export type Asker = (prompt: PermissionPrompt, signal: AbortSignal) => Promise<PermissionAnswer>;
