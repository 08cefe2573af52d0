// What a hook's patch means for each event, and how the next hook sees it.
import { isObject } from "../../base/json.ts";
import type { HookEvent, HookInput } from "./types.ts";

export interface Patched {
  input: HookInput;
  /** Of all hooks so far. */
  patch?: unknown;
}

/** Throws when the patch is not of the event's shape. Events that cannot be changed ignore it. */
export function applyPatch(before: Patched, patch: unknown): Patched {
  return PATCHES[before.input.event]?.(before, patch) ?? before;
}

const PATCHES: Readonly<Partial<Record<HookEvent, (before: Patched, patch: unknown) => Patched>>> = {
  PreToolUse: ({ input }, patch) => {
    if (!isObject(patch))
      throw new Error("its patch is no JSON object; PreToolUse expects the whole new tool input");
    return { input: { ...input, toolInput: patch }, patch };
  },
  UserPromptSubmit: ({ input }, patch) => {
    const prompt = text(patch, "prompt");
    return { input: { ...input, prompt }, patch: { prompt } };
  },
  AfterModelResponse: ({ input }, patch) => {
    const said = text(patch, "text");
    return { input: { ...input, text: said }, patch: { text: said } };
  },
  PostToolUse: ({ input }, patch) => {
    const content = text(patch, "content");
    return {
      input: { ...input, toolResult: { ok: input.toolResult?.ok ?? true, content } },
      patch: { content },
    };
  },
  // Additions, not replacements: each hook adds its own.
  SessionStart: (before, patch) => {
    const earlier = isObject(before.patch) ? [String(before.patch["system"])] : [];
    return { ...before, patch: { system: [...earlier, text(patch, "system")].join("\n\n") } };
  },
};

function text(patch: unknown, field: string): string {
  const value = isObject(patch) ? patch[field] : undefined;
  if (typeof value !== "string") throw new Error(`its patch has no text "${field}"`);
  return value;
}
