// Runs the hooks of an event one after another: built-in ones first, then in the order of the configuration. Each gets
// what the one before made of the input. A hook that fails is a warning, or, where it is a gate, a block.
import { messageOf } from "../../base/coded-error.ts";
import { matchesHook } from "./match.ts";
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
  /** What it guards does not happen. */
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
    ...(state.patch === undefined ? {} : { patch: state.patch }),
  });
  for (const hook of hooks) {
    if (!matchesHook(hook, state.input)) continue;
    if (signal.aborted) return end({ blocked: true, reason: "aborted" });
    const about = { hook: hook.name, event: hook.event, ...callOf(first) };
    try {
      const result = await runHook(hook, state.input, signal);
      const { decision = "allow", message } = result;
      // A patch that makes no sense is a failure of the hook, so it is looked at before anything is told.
      if (decision !== "block" && result.patch !== undefined) state = applyPatch(state, result.patch);
      options.onFired?.({ ...about, decision, ...(message === undefined ? {} : { message }) });
      if (decision === "block")
        return end({ blocked: true, reason: message ?? `the hook ${hook.name} blocks it` });
      if (decision === "warn") warnings.push(message ?? `the hook ${hook.name} warns`);
    } catch (error) {
      if (signal.aborted) return end({ blocked: true, reason: "aborted" });
      const message = messageOf(error);
      const blocked = hook.kind === "builtin" || hook.onError === "block";
      options.onFailed?.({ ...about, message, blocked });
      const told = `the hook ${hook.name} failed: ${message}`;
      if (blocked) return end({ blocked: true, reason: told });
      warnings.push(told);
    }
  }
  return end({ blocked: false });
}

/** Ends with the time-out or the abort even when the hook does not listen. */
async function runHook(hook: Hook, input: HookInput, signal: AbortSignal): Promise<HookResult> {
  const timeoutMs = Math.min(hook.timeoutMs ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
  const control = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let stop: () => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    const giveUp = (why: string) => {
      reject(new Error(why));
      control.abort();
    };
    timer = setTimeout(() => giveUp(`it took longer than ${timeoutMs} ms`), timeoutMs);
    stop = () => giveUp("aborted");
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([hook.run(input, control.signal), ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function callOf({ callId }: HookInput): { callId?: string } {
  return callId === undefined ? {} : { callId };
}
