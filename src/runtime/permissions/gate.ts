// Between a tool call and its execution: evaluates, asks the person where the rules say so, and remembers an "always"
// that was offered. Tells nothing itself; the loop makes events of what comes back.
import { messageOf } from "../../base/coded-error.ts";
import type { AgentDefinition } from "../agents/types.ts";
import type { DemianConfig } from "../config/schema.ts";
import type { HookOutcome } from "../hooks/types.ts";
import type { ToolPlan } from "../tools/types.ts";
import { evaluate } from "./evaluate.ts";
import { bareName, grantKeyOf } from "./grant-key.ts";
import { resolveCommand } from "./grantable.ts";
import type { GrantStore } from "./grants.ts";
import { makePrompt } from "./prompt.ts";
import type {
  Asker,
  Decision,
  GrantKey,
  PermissionAnswer,
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
  /** Allow what would be asked. Denials still hold, and nothing is remembered. */
  yes?: boolean;
  /** The workspace and other directories where commands may write (temporary ones): real and absolute. */
  writable: readonly string[];
  /** Of the workspace, relative to it: what nobody may touch. */
  hidden?: readonly string[];
  /** The PATH that commands get. */
  path: string | undefined;
  now?: () => number;
}

export interface GateCall {
  tool: string;
  /** Checked. */
  input: unknown;
  plan: ToolPlan;
  agent: Pick<AgentDefinition, "name" | "permissions" | "defaultDecision">;
  sessionId: string;
  callId: string;
  /** The sub-agents from below the main agent down to this one. */
  agentPath?: readonly string[] | undefined;
  /** With `agentPath`: the main agent above them, for the one who is asked. */
  mainAgent?: string | undefined;
  /** Of a sub-agent: what it may read of `.demian`, where the main conversation is kept. */
  ownFiles?: ReadonlySet<string> | undefined;
  /** Who runs the tool, where it is not demian. Its commands are not held by `sandbox`. */
  executor?: string | undefined;
  /** The adapter that will hold a command. */
  sandbox: string;
  /** Shown with the prompt: what hooks had to say. */
  reason?: string;
  toolDefault?: Decision;
  /** Before the person is asked; a hook may block. */
  onRequest?(prompt: PermissionPrompt): Promise<Pick<HookOutcome, "blocked" | "reason"> | undefined>;
}

export interface GateDecision {
  allowed: boolean;
  /** A step of the order ("rule", "grant", …), "user", "nobody" (to ask), "hook", "yes" or "abort". */
  by: Verdict["by"] | "user" | "nobody" | "hook" | "yes" | "abort";
  reason?: string;
  /** It was remembered. */
  always: boolean;
  stop?: boolean;
}

export interface PermissionGate {
  /** Never rejects: what fails is a refusal. */
  decide(call: GateCall, signal: AbortSignal): Promise<GateDecision>;
  /** Whether a file that a search came upon may be shown; `path` is real and relative to the workspace. */
  mayRead(call: Pick<GateCall, "tool" | "agent" | "ownFiles">, path: string): boolean;
}

const HOLDING = new Set(["linux-bwrap", "macos-sandbox-exec"]);
const ABORTED: GateDecision = { allowed: false, by: "abort", reason: "the turn was aborted", always: false };

export function createPermissionGate(options: GateOptions): PermissionGate {
  return {
    decide: async (call, signal) => {
      try {
        return await decide(options, call, signal);
      } catch (error) {
        if (signal.aborted) return ABORTED;
        return denied("default", `the question could not be asked: ${messageOf(error)}`);
      }
    },
    mayRead: ({ tool, agent, ownFiles }, path) => {
      const target = { kind: "path", access: "read", lexical: path, real: path } as const;
      const policy = {
        ...policyOf(options, { agent: forSearch(options, agent), ownFiles }),
        grants: [],
        nowMs: 0,
      };
      const verdict = evaluate({ tool, targets: [target] }, policy);
      return verdict.decision !== "deny" && verdict.by !== "agent_deny";
    },
  };
}

/**
 * With several agents a person may have allowed a search that the agent's rules deny as a whole: what they deny by path
 * stays hidden, the rest is what the person wanted to be found.
 */
function forSearch({ mode }: GateOptions, agent: GateCall["agent"]): GateCall["agent"] {
  if (mode !== "multi-agent") return agent;
  const permissions = agent.permissions.filter(
    ({ decision, match }) => decision !== "deny" || match?.pathGlob !== undefined,
  );
  return { name: agent.name, permissions };
}

async function decide(options: GateOptions, call: GateCall, signal: AbortSignal): Promise<GateDecision> {
  const now = options.now ?? Date.now;
  const targets = await resolved(options, call);
  const verdict = evaluate(
    { tool: call.tool, targets },
    { ...policyOf(options, call), grants: await options.grants.list(), nowMs: now() },
  );
  if (signal.aborted) return ABORTED;
  if (verdict.decision === "allow") return { allowed: true, by: verdict.by, always: false };
  if (verdict.decision === "deny") return denied(verdict.by, verdict.reason);
  if (verdict.by === "agent_deny" && options.yes) {
    const remedy = "--yes does not go beyond an agent's rules; run it without --yes to be asked";
    return denied(verdict.by, `${denialOf(call, verdict)}, and ${remedy}, or with an agent that may do it`);
  }
  return askPerson(options, call, keysOf(call, targets), verdict, signal);
}

/** Of the agent itself, in words. */
function denialOf({ agent }: GateCall, { reason }: Verdict): string {
  return `the rules of the agent ${agent.name} deny it${reason === undefined ? "" : ` (${reason})`}`;
}

function policyOf(
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
    ...(options.mode === undefined ? {} : { mode: options.mode }),
    ...(executor === undefined ? {} : { executor }),
    ...(ownFiles === undefined ? {} : { ownFiles }),
    globalRules,
    agentRules: agent.permissions,
    ...(agent.defaultDecision === undefined ? {} : { agentDefault: agent.defaultDecision }),
    ...(toolDefault === undefined ? {} : { toolDefault }),
    ...(rootDefault === undefined ? {} : { rootDefault }),
    ...(hidden === undefined ? {} : { hidden }),
  };
}

/** Targets with what is certain about their commands. */
async function resolved(options: GateOptions, call: GateCall): Promise<PermissionTarget[]> {
  const { writable, path } = options;
  return Promise.all(
    call.plan.targets.map(async (target) => {
      if (target.kind !== "command") return target;
      const isOurs = call.executor === undefined;
      const found = await resolveCommand(target.command, {
        // The shell of another agent stays open, and with it the directory of its last "cd".
        cwd: isOurs ? target.cwd : undefined,
        writable,
        path,
        isSandboxed: isOurs && HOLDING.has(call.sandbox),
      });
      // What a tool says of itself does not count.
      const { resolved: _, ...plain } = target;
      return found === undefined ? plain : { ...plain, resolved: found };
    }),
  );
}

/** Empty: something in it can only be allowed once. */
function keysOf({ tool, executor }: GateCall, targets: readonly PermissionTarget[]): GrantKey[] {
  const keys = targets.map((target) => grantKeyOf(bareName(tool, executor), target, executor));
  const known = keys.filter((key) => key !== undefined);
  return known.length === keys.length ? known : [];
}

async function askPerson(
  options: GateOptions,
  call: GateCall,
  keys: readonly GrantKey[],
  verdict: Verdict,
  signal: AbortSignal,
): Promise<GateDecision> {
  const widens = verdict.by === "agent_deny";
  const why = widens ? `${denialOf(call, verdict)}: a yes goes beyond them` : verdict.reason;
  const reasons = [why, call.reason].filter((reason) => reason !== undefined);
  const prompt = makePrompt({ call, widens, reasons, keys, span: options.grants.span });
  const outcome = await call.onRequest?.(prompt);
  if (signal.aborted) return ABORTED;
  if (outcome?.blocked) return denied("hook", outcome.reason);
  if (options.yes) return { allowed: true, by: "yes", always: false };
  const answer = await untilAborted(options.ask(prompt, signal), signal);
  if (answer === undefined || signal.aborted) return ABORTED;
  if (answer.decision !== "allow")
    return { ...denied(answer.by ?? "user", answer.reason), ...(answer.stop ? { stop: true } : {}) };
  // Only what was offered: a face that makes up an "always" gets once.
  const isAlways = answer.always === true && prompt.always !== undefined;
  if (isAlways) await Promise.all(keys.map((key) => options.grants.add(key, "project")));
  return { allowed: true, by: "user", always: isAlways };
}

/** Undefined: aborted. A face that does not listen to the signal must not hold up the end of the turn. */
function untilAborted(
  answer: Promise<PermissionAnswer>,
  signal: AbortSignal,
): Promise<PermissionAnswer | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function denied(by: GateDecision["by"], reason: string | undefined): GateDecision {
  return { allowed: false, by, ...(reason === undefined ? {} : { reason }), always: false };
}
