// Decides a tool call: evaluates the rules, asks the user where they say so, and stores an "always". Emits no events; the
// agent loop does.

import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { awaitUnlessAborted } from "../abort.ts";
import type { AgentDefinition } from "../agents/types.ts";
import type { DemianConfig } from "../config/schema.ts";
import type { HookOutcome } from "../hooks/types.ts";
import type { ToolPlan } from "../tools/types.ts";
import { evaluate } from "./evaluate.ts";
import { stripExecutor, toGrantKey } from "./grant-key.ts";
import { resolveCommand } from "./grantable.ts";
import type { GrantStore } from "./grants.ts";
import { makePrompt } from "./prompt.ts";
import type {
  Asker,
  Decision,
  GrantKey,
  PermissionPrompt,
  PermissionRule,
  PermissionTarget,
  Policy,
  Verdict,
} from "./types.ts";

export interface GateOptions {
  /** Default: "single-agent". */
  mode?: DemianConfig["agentMode"];
  globalRules: readonly PermissionRule[];
  rootDefault?: Decision;
  grants: GrantStore;
  ask: Asker;
  /** Allow instead of asking. Denials still apply, and no grants are stored. */
  yes?: boolean;
  /** Directories where commands may write (workspace, temporary directories), as real paths. */
  writable: readonly string[];
  /** Inaccessible paths, relative to the workspace. */
  hidden?: readonly string[];
  /** The PATH of commands. */
  path: string | undefined;
  now?: () => number;
}

export interface GateCall {
  tool: string;
  /** Validated. */
  input: unknown;
  plan: ToolPlan;
  agent: Pick<AgentDefinition, "name" | "permissions" | "defaultDecision">;
  sessionId: string;
  callId: string;
  /** The sub-agents from the first below the main agent down to this one. */
  agentPath?: readonly string[] | undefined;
  /** With `agentPath`: the main agent, to show to the user. */
  mainAgent?: string | undefined;
  /** For a sub-agent: the files in `.demian` that it may read. */
  ownFiles?: ReadonlySet<string> | undefined;
  /** The program that runs the tool, if not demian. `sandbox` does not apply to it. */
  executor?: string | undefined;
  /** The sandbox adapter for commands. */
  sandbox: string;
  /** Messages from hooks, shown with the prompt. */
  reason?: string;
  toolDefault?: Decision;
  /** Called before the user is asked; a hook may block. */
  onRequest?(prompt: PermissionPrompt): Promise<Pick<HookOutcome, "blocked" | "reason"> | undefined>;
}

export interface GateDecision {
  allowed: boolean;
  /** The step that decided ("rule", "grant", …), "user", "nobody" (no user to ask), "hook", "yes" or "abort". */
  by: Verdict["by"] | "user" | "nobody" | "hook" | "yes" | "abort";
  reason?: string;
  /** A grant was stored. */
  always: boolean;
  stop?: boolean;
}

export interface PermissionGate {
  /** Never rejects: failures are denials. */
  decide(call: GateCall, signal: AbortSignal): Promise<GateDecision>;
  /** Whether a search may show a file; `path` is real and relative to the workspace. */
  mayRead(call: Pick<GateCall, "tool" | "agent" | "ownFiles">, path: string): boolean;
}

const OS_SANDBOXES = new Set(["linux-bwrap", "macos-sandbox-exec"]);
const ABORTED: GateDecision = { allowed: false, by: "abort", reason: "the turn was aborted", always: false };

export function createPermissionGate(options: GateOptions): PermissionGate {
  return {
    decide: async (call, signal) => {
      try {
        return await decide(options, call, signal);
      } catch (error) {
        if (signal.aborted) return ABORTED;
        return deny("default", `asking for permission failed: ${toMessage(error)}`);
      }
    },
    mayRead: ({ tool, agent, ownFiles }, path) => {
      const target = { kind: "path", access: "read", lexical: path, real: path } as const;
      const policy = {
        ...buildPolicy(options, { agent: relaxForSearch(options, agent), ownFiles }),
        grants: [],
        nowMs: 0,
      };
      const verdict = evaluate({ tool, targets: [target] }, policy);
      return verdict.decision !== "deny" && verdict.by !== "agent_deny";
    },
  };
}

/**
 * In multi-agent mode the user may have allowed a search that the agent's rules deny as a whole: only files that they
 * deny by path stay hidden.
 */
function relaxForSearch({ mode }: GateOptions, agent: GateCall["agent"]): GateCall["agent"] {
  if (mode !== "multi-agent") return agent;
  const permissions = agent.permissions.filter(
    ({ decision, match }) => decision !== "deny" || match?.pathGlob !== undefined,
  );
  return { name: agent.name, permissions };
}

async function decide(options: GateOptions, call: GateCall, signal: AbortSignal): Promise<GateDecision> {
  const now = options.now ?? Date.now;
  const targets = await resolveTargets(options, call);
  const verdict = evaluate(
    { tool: call.tool, targets },
    { ...buildPolicy(options, call), grants: await options.grants.list(), nowMs: now() },
  );
  if (signal.aborted) return ABORTED;
  if (verdict.decision === "allow") return { allowed: true, by: verdict.by, always: false };
  if (verdict.decision === "deny") return deny(verdict.by, verdict.reason);
  if (verdict.by === "agent_deny" && options.yes) {
    const remedy =
      "--yes does not override an agent's rules; run without --yes to be asked, or use another agent";
    return deny(verdict.by, `${describeDenial(call, verdict)}, and ${remedy}`);
  }
  return askUser(options, call, listGrantKeys(call, targets), verdict, signal);
}

function describeDenial({ agent }: GateCall, { reason }: Verdict): string {
  return `the rules of the agent ${agent.name} deny it${reason === undefined ? "" : ` (${reason})`}`;
}

function buildPolicy(
  options: GateOptions,
  {
    agent,
    toolDefault,
    executor,
    ownFiles,
  }: Pick<GateCall, "agent" | "toolDefault" | "executor" | "ownFiles">,
): Omit<Policy, "grants" | "nowMs"> {
  const { globalRules, rootDefault, hidden } = options;
  return {
    ...defined({ mode: options.mode, executor, ownFiles }),
    globalRules,
    agentRules: agent.permissions,
    ...defined({ agentDefault: agent.defaultDecision, toolDefault, rootDefault, hidden }),
  };
}

/** Resolves the programs of command targets. */
async function resolveTargets(options: GateOptions, call: GateCall): Promise<PermissionTarget[]> {
  const { writable, path } = options;
  return Promise.all(
    call.plan.targets.map(async (target) => {
      if (target.kind !== "command") return target;
      const isOurs = call.executor === undefined;
      const found = await resolveCommand(target.command, {
        // Another agent's shell stays open and may have changed its directory.
        cwd: isOurs ? target.cwd : undefined,
        writable,
        path,
        isSandboxed: isOurs && OS_SANDBOXES.has(call.sandbox),
      });
      // A tool's own claim is not trusted.
      const { resolved: _, ...plain } = target;
      return found === undefined ? plain : { ...plain, resolved: found };
    }),
  );
}

/** Empty if any target can only be allowed once. */
function listGrantKeys({ tool, executor }: GateCall, targets: readonly PermissionTarget[]): GrantKey[] {
  const keys = targets.map((target) => toGrantKey(stripExecutor(tool, executor), target, executor));
  const known = keys.filter((key) => key !== undefined);
  return known.length === keys.length ? known : [];
}

async function askUser(
  options: GateOptions,
  call: GateCall,
  keys: readonly GrantKey[],
  verdict: Verdict,
  signal: AbortSignal,
): Promise<GateDecision> {
  const widens = verdict.by === "agent_deny";
  const why = widens ? `${describeDenial(call, verdict)}; allowing it overrides them` : verdict.reason;
  const reasons = [why, call.reason].filter((reason) => reason !== undefined);
  const prompt = makePrompt({ call, widens, reasons, keys, span: options.grants.span });
  const outcome = await call.onRequest?.(prompt);
  if (signal.aborted) return ABORTED;
  if (outcome?.blocked) return deny("hook", outcome.reason);
  if (options.yes) return { allowed: true, by: "yes", always: false };
  const answer = await awaitUnlessAborted(() => options.ask(prompt, signal), signal).catch(
    (error: unknown) => {
      if (!signal.aborted) throw error;
    },
  );
  if (answer === undefined || signal.aborted) return ABORTED;
  if (answer.decision !== "allow")
    return { ...deny(answer.by ?? "user", answer.reason), ...(answer.stop ? { stop: true } : {}) };
  // "Always" counts only if it was offered.
  const isAlways = answer.always === true && prompt.always !== undefined;
  if (isAlways) await Promise.all(keys.map((key) => options.grants.add(key, "project")));
  return { allowed: true, by: "user", always: isAlways };
}

function deny(by: GateDecision["by"], reason: string | undefined): GateDecision {
  return { allowed: false, by, ...defined({ reason }), always: false };
}
