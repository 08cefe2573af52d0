// Applies a hook's patch to the input that the next hook gets.
import { isObject } from "../../base/json.ts";
import type { HookEvent, HookInput } from "./types.ts";

export interface Patched {
  input: HookInput;
  /** Combined patch of all hooks so far. */
  patch?: unknown;
}

/** Throws if the patch does not have the event's shape. Ignored for events that cannot be changed. */
export function applyPatch(before: Patched, patch: unknown): Patched {
  return PATCHES[before.input.event]?.(before, patch) ?? before;
}

const PATCHES: Readonly<Partial<Record<HookEvent, (before: Patched, patch: unknown) => Patched>>> = {
  PreToolUse: ({ input }, patch) => {
    if (!isObject(patch))
      throw new Error("its patch is not a JSON object; PreToolUse expects the complete new tool input");
    return { input: { ...input, toolInput: patch }, patch };
  },
  UserPromptSubmit: ({ input }, patch) => {
    const prompt = readText(patch, "prompt");
    return { input: { ...input, prompt }, patch: { prompt } };
  },
  AfterModelResponse: ({ input }, patch) => {
    const text = readText(patch, "text");
    return { input: { ...input, text }, patch: { text } };
  },
  PostToolUse: ({ input }, patch) => {
    const content = readText(patch, "content");
    return {
      input: { ...input, toolResult: { ok: input.toolResult?.ok ?? true, content } },
      patch: { content },
    };
  },
  // Each hook adds to the system prompt.
  SessionStart: (before, patch) => {
    const earlier = isObject(before.patch) ? [String(before.patch["system"])] : [];
    return { ...before, patch: { system: [...earlier, readText(patch, "system")].join("\n\n") } };
  },
};

function readText(patch: unknown, field: string): string {
  const value = isObject(patch) ? patch[field] : undefined;
  if (typeof value !== "string") throw new Error(`its patch has no string "${field}"`);
  return value;
}
