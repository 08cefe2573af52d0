// `options.codex.*`: what a client may set and what is refused. app-server/params.ts maps it to the wire;
// config-keys.ts lists keys of `config` that are code.

import * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { explainIssues } from "../../base/schema.ts";
import { omitNulls } from "../../base/values.ts";
import { withoutNul } from "../argv.ts";
import { checkConfig, toFeatureFlags } from "./config-keys.ts";
import type { Transport } from "./program.ts";

export const SANDBOX_MODES = ["read-only", "workspace-write", "danger-full-access"] as const;
/** `on-failure` exists only in the legacy transport. */
const APPROVAL_POLICIES = ["untrusted", "on-request", "never", "on-failure"] as const;

const text = z.string().nullish();
const flag = z.boolean().nullish();

/** Which kinds of approval are asked for; Codex declines the others itself. */
const Granular = z.strictObject({
  granular: z.strictObject({
    sandbox_approval: z.boolean(),
    rules: z.boolean(),
    skill_approval: z.boolean(),
    request_permissions: z.boolean(),
    mcp_elicitations: z.boolean(),
  }),
});

/** `null` means unset, as older clients send it. */
export const CodexOptions = z.strictObject({
  model: text,
  /** `$CODEX_HOME/<profile>.config.toml`, merged over `config.toml`. */
  profile: z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/, "expected a profile name: letters, digits, '.', '_', '-'")
    .nullish(),
  cwd: z.string().min(1).nullish(),
  sandbox: z.enum(SANDBOX_MODES).nullish(),
  "approval-policy": z.union([z.enum(APPROVAL_POLICIES), Granular]).nullish(),
  "base-instructions": text,
  "developer-instructions": text,
  "compact-prompt": text,
  /** Merged over `config.toml` and the profile. */
  config: z.record(z.string(), z.unknown()).nullish(),
  include_raw_events: flag,
  user_echo: flag,
  /** Reasoning effort: `minimal`, `low`, `medium`, `high`, … */
  effort: text,
  /** In plan mode Codex may ask questions and changes nothing. */
  collaboration_mode: z.enum(["plan", "default"]).nullish(),
  /** A JSON schema for the last message of each turn. */
  output_schema: z.record(z.string(), z.unknown()).nullish(),
  /** A process for this session alone. */
  own_process: flag,
});

/** Without nulls. */
export type CodexOptions = {
  [K in keyof z.infer<typeof CodexOptions>]?: NonNullable<z.infer<typeof CodexOptions>[K]>;
};

const AT = "/options/codex";

export interface OptionLimits {
  /** Dotted prefixes of `config` that are passed on although they are code. */
  allowConfig: readonly string[];
  /** Undefined while unknown. */
  transport: Transport | undefined;
}

/** Throws `unsafe_flag` or `invalid_message` with the path of the bad field; returns the block without nulls. */
export function checkCodexOptions(block: Record<string, unknown>, limits: OptionLimits): CodexOptions {
  const checked = CodexOptions.safeParse(block);
  if (!checked.success) throw new CodedError("invalid_message", explainIssues(checked.error.issues, AT));
  const options = omitNulls(checked.data) as CodexOptions;
  for (const key of ["model", "cwd", "effort"] as const) {
    if (options[key] !== undefined) withoutNul(options[key], `${AT}/${key}`);
  }
  if (options.config !== undefined) {
    checkConfig(options.config, limits.allowConfig, `${AT}/config`);
    // Built here only to refuse at open what start would refuse.
    toFeatureFlags(options.config, `${AT}/config`);
  }
  if (limits.transport === "app-server") refuseOnFailure(options);
  if (limits.transport === "mcp-server") refuseNewOptions(options);
  return options;
}

/** Options that only the app-server supports. `own_process` is not among them: here every session has its own. */
const TOO_NEW = ["effort", "collaboration_mode", "output_schema"] as const;

/** No client option is dropped silently. The transport may be known only at start. */
export function refuseNewOptions(options: CodexOptions): void {
  const isGranular = typeof options["approval-policy"] === "object";
  const key = isGranular ? "approval-policy" : TOO_NEW.find((name) => options[name] !== undefined);
  if (key === undefined) return;
  throw new CodedError(
    "invalid_message",
    `${AT}/${key}: ${isGranular ? "a granular policy is" : "is"} not supported by codex mcp-server; leave it out or use Codex 0.154 or newer`,
  );
}

/** The transport may be known only at start. */
export function refuseOnFailure(options: CodexOptions): void {
  if (options["approval-policy"] !== "on-failure") return;
  throw new CodedError(
    "invalid_message",
    `${AT}/approval-policy: "on-failure" no longer exists in Codex; use untrusted, on-request or never`,
  );
}
