// Runs the hooks of an event in order: built-in ones first, then as configured. Each gets the input as patched by the
// previous ones. A failed hook is a warning, or a block if it has `onError: "block"`.

import { toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { awaitUnlessAborted } from "../abort.ts";
import { applyPatch, type Patched } from "./patch.ts";
import {
  DEFAULT_TIMEOUT_MS,
  type Hook,
  type HookDispatcher,
  type HookInput,
  type HookOutcome,
  type HookResult,
  MAX_TIMEOUT_MS,
} from "./types.ts";

export interface HookFired {
  hook: string;
  event: string;
  decision: string;
  message?: string;
  callId?: string;
}

export interface HookFailed {
  hook: string;
  event: string;
  message: string;
  /** The guarded action does not happen. */
  blocked: boolean;
  callId?: string;
}

export interface DispatcherOptions {
  hooks: readonly Hook[];
  onFired?(fired: HookFired): void;
  onFailed?(failed: HookFailed): void;
}

export function createHookDispatcher(options: DispatcherOptions): HookDispatcher {
  const isBuiltin = ({ kind }: Hook) => kind === "builtin";
  const hooks = [...options.hooks.filter(isBuiltin), ...options.hooks.filter((hook) => !isBuiltin(hook))];
  return { dispatch: (input, signal) => dispatch(hooks, input, signal, options) };
}

async function dispatch(
  hooks: readonly Hook[],
  first: HookInput,
  signal: AbortSignal,
  options: DispatcherOptions,
): Promise<HookOutcome> {
  const warnings: string[] = [];
  let state: Patched = { input: first };
  const end = (outcome: Omit<HookOutcome, "warnings">): HookOutcome => ({
    ...outcome,
    warnings,
    ...defined({ patch: state.patch }),
  });
  for (const hook of hooks) {
    if (!matchesHook(hook, state.input)) continue;
    if (signal.aborted) return end({ blocked: true, reason: "aborted" });
    const about = { hook: hook.name, event: hook.event, ...pickCallId(first) };
    try {
      const result = await runHook(hook, state.input, signal);
      const { decision = "allow", message } = result;
      // An invalid patch is a failure of the hook, so apply it before reporting success.
      if (decision !== "block" && result.patch !== undefined) state = applyPatch(state, result.patch);
      options.onFired?.({ ...about, decision, ...defined({ message }) });
      if (decision === "block")
        return end({ blocked: true, reason: message ?? `blocked by the hook ${hook.name}` });
      if (decision === "warn") warnings.push(message ?? `warning from the hook ${hook.name}`);
    } catch (error) {
      if (signal.aborted) return end({ blocked: true, reason: "aborted" });
      const message = toMessage(error);
      const blocked = hook.kind === "builtin" || hook.onError === "block";
      options.onFailed?.({ ...about, message, blocked });
      const reason = `the hook ${hook.name} failed: ${message}`;
      if (blocked) return end({ blocked: true, reason });
      warnings.push(reason);
    }
  }
  return end({ blocked: false });
}

/** Ends at the timeout or abort even if the hook ignores its signal. */
async function runHook(hook: Hook, input: HookInput, signal: AbortSignal): Promise<HookResult> {
  const timeoutMs = Math.min(hook.timeoutMs ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`it took longer than ${timeoutMs} ms`)), timeoutMs);
  const either = AbortSignal.any([late.signal, signal]);
  try {
    return await awaitUnlessAborted(() => hook.run(input, either), either);
  } catch (error) {
    throw signal.aborted ? new Error("aborted") : error;
  } finally {
    clearTimeout(timer);
  }
}

function pickCallId({ callId }: HookInput): { callId?: string } {
  return defined({ callId });
}

function matchesHook({ event, match }: Pick<Hook, "event" | "match">, input: HookInput): boolean {
  if (event !== input.event) return false;
  return matchesName(match?.tool, input.toolName) && matchesName(match?.agent, input.agent);
}

/** "a|b", "*"; `demian.bash` and `*.bash` are `bash`. An empty list matches nothing; "*" matches a missing name too. */
function matchesName(pattern: string | undefined, name: string | undefined): boolean {
  if (pattern === undefined) return true;
  return pattern.split("|").some((part) => {
    const wanted = part.trim().replace(/^(demian|\*)\.(?=.)/, "");
    return wanted === "*" || (wanted !== "" && wanted === name);
  });
}
