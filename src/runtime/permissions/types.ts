// Permissions. Rules come from agents and the configuration, grants from the user's "always".
import type { FileChange } from "../workspace/types.ts";

export const DECISIONS = ["allow", "ask", "deny"] as const;
export type Decision = (typeof DECISIONS)[number];

export interface PermissionRule {
  /** A name, or "*". `demian.bash` is `bash`; tools of another executor have a prefix: `claudecode.Bash`. */
  tool: string;
  match?:
    | {
        pathGlob?: string | undefined;
        /** First words of a command. In an allow rule it matches plain commands only (base/commands/plain.ts). */
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

/** A plain command whose program is known and not writable by the agent. Set by the gate. */
export interface ResolvedCommand {
  argv: readonly string[];
  /** A real path. */
  executable: string;
  /** "Always" may be offered for exactly this command, and existing grants count. */
  isGrantable: boolean;
}

export interface PermissionCall {
  tool: string;
  targets: readonly PermissionTarget[];
}

/** Input of the pure function in permissions/evaluate.ts. */
export interface Policy {
  /** In multi-agent mode, an agent's own denial becomes a question to the user. */
  mode?: "single-agent" | "multi-agent";
  /** The program that runs the tool, if not demian; its rules are named `claudecode.Bash`. */
  executor?: string;
  /** For a sub-agent: the files in `.demian` that it may read. */
  ownFiles?: ReadonlySet<string>;
  /** From the user's configuration; their denials override everything except the built-in ones. */
  globalRules: readonly PermissionRule[];
  agentRules: readonly PermissionRule[];
  agentDefault?: Decision;
  /** The tool's own default. */
  toolDefault?: Decision;
  rootDefault?: Decision;
  grants: readonly Grant[];
  /** Inaccessible paths in the workspace: our own state, if the workspace is the home directory. */
  hidden?: readonly string[];
  nowMs: number;
}

export interface Verdict {
  decision: Decision;
  /** The step that decided. */
  by: "hard_deny" | "global_deny" | "grant" | "rule" | "agent_deny" | "agent_default" | "default";
  reason?: string;
}

/** A permission that lasts longer than one call. */
export interface Grant {
  key: GrantKey;
  scope: "session" | "project";
  grantedAtMs: number;
  /** Absent for session grants. */
  expiresAtMs?: number;
}

export type GrantKey =
  | {
      kind: "command";
      argv: readonly string[];
      executable: string;
      cwd: string;
      /** The program that runs it, if not demian. */
      executor?: string | undefined;
    }
  | { kind: "write"; tool: string; directory: string }
  | { kind: "agent"; agent: string; provider: string; digest?: string | undefined }
  | { kind: "other"; tool: string; key: string };

/** A question to the user. It shows exactly what will happen. */
export interface PermissionPrompt {
  sessionId: string;
  callId: string;
  agent: string;
  /** The sub-agents from the first below the main agent down to the asking one; absent for the main agent. */
  agentPath?: readonly string[];
  /** With `agentPath`: the main agent. */
  mainAgent?: string;
  /** The agent's own rules deny it; only the user can override them, `--yes` cannot. */
  widens?: true;
  /** The program that will run it, if not demian: "claudecode". */
  executor?: string;
  tool: string;
  title: string;
  /** The sub-agent to start, its provider, and the complete text it receives. */
  invocation?: {
    agent: string;
    provider: string;
    model: string;
    crossesProvider: boolean;
    /** Where the agent is defined, if not by the user. */
    origin?: string;
    receives: readonly string[];
    handoff: string;
  };
  command?: string;
  cwd?: string;
  changes?: readonly FileChange[];
  /** The tool's validated input. */
  input: unknown;
  /** The reason given by a rule or hook. */
  reason?: string;
  /** The sandbox of a command: "linux-bwrap", "off", … */
  sandbox?: string;
  /** Describes what "always" would allow; absent if it is not offered. */
  always?: string;
}

export interface PermissionAnswer {
  decision: "allow" | "deny";
  /** Only with "allow", and only if it was offered. */
  always?: boolean;
  /** Sent to the model with a denial. */
  reason?: string;
  /** Deny, and end the turn. */
  stop?: boolean;
  /** Only with "deny": there was no user to ask. Absent if the user answered. */
  by?: "nobody";
}

/** Asks the user. Rejects or denies when the signal aborts. */
export type Asker = (prompt: PermissionPrompt, signal: AbortSignal) => Promise<PermissionAnswer>;
