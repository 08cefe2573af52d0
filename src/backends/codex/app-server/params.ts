// `options.codex.*` → the parameters of thread/start and thread/resume, and those of every turn.
import type { JsonObject } from "../../../base/json.ts";
import { mergeConfig, nestConfig } from "../config-keys.ts";
import type { CodexOptions } from "../options.ts";

export interface ThreadSettings {
  options: CodexOptions;
  /** From the profile; overridden by `options.config`. */
  profile: JsonObject;
  /** For the commands of this session. */
  env: Record<string, string>;
}

/** Option → parameter, where the value is passed unchanged. */
const PARAMETERS = {
  model: "model",
  cwd: "cwd",
  sandbox: "sandbox",
  "approval-policy": "approvalPolicy",
  "base-instructions": "baseInstructions",
  "developer-instructions": "developerInstructions",
} as const;

export function toThreadParams({ options, profile, env }: ThreadSettings): JsonObject {
  const params: JsonObject = {};
  for (const [option, parameter] of Object.entries(PARAMETERS)) {
    const value = options[option as keyof typeof PARAMETERS];
    if (value !== undefined) params[parameter] = value;
  }
  // Once the session has left its thread, others may open it: by default Codex keeps it locked for half an hour.
  const own: JsonObject = { shell_environment_policy: { set: env }, thread_unload_delay_secs: 0 };
  if (options["compact-prompt"] !== undefined) own["compact_prompt"] = options["compact-prompt"];
  const asked = mergeConfig(profile, nestConfig(options.config ?? {}));
  return { ...params, config: mergeConfig(asked, own) };
}

/** `model`: the thread's model; plan mode must name it. */
export function toTurnParams(options: CodexOptions, model: string | undefined): JsonObject {
  const params: JsonObject = {};
  if (options.effort !== undefined) params["effort"] = options.effort;
  if (options.output_schema !== undefined) params["outputSchema"] = options.output_schema;
  if (options.collaboration_mode !== undefined) {
    // It overrides model and effort of the thread, so it repeats them; null: the mode's own instructions.
    const settings = {
      model: options.model ?? model ?? "",
      reasoning_effort: options.effort ?? null,
      developer_instructions: null,
    };
    params["collaborationMode"] = { mode: options.collaboration_mode, settings };
  }
  return params;
}
