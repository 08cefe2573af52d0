// `options.<name>.*` of an ACP agent: the same for all, plus one for our own.
import { realpath } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import * as z from "zod";
import { checkCwd } from "../../base/child.ts";
import { CodedError } from "../../base/coded-error.ts";
import { explainIssues } from "../../base/schema.ts";
import { withoutNul } from "../argv.ts";
import type { AcpSpec } from "./spec.ts";

const flag = z.boolean().nullish();
const text = z.string().min(1).nullish();

/** `null` means unset, as older clients send it. */
export const AcpOptions = z.strictObject({
  /** Absolute. */
  cwd: text,
  /** One of the models the agent offers. */
  model: text,
  /** One of its modes: what it may do, or when it asks. */
  mode: text,
  /** Its other settings, by id. */
  config: z.record(z.string().min(1), z.union([z.string(), z.boolean()])).nullish(),
  /** False: requests are allowed once each, without asking. */
  approvals: flag,
  include_raw_events: flag,
  user_echo: flag,
});

const DemianOptions = AcpOptions.extend({
  /** One agent, or several that delegate to each other; absent: from its configuration. */
  agent_mode: z.enum(["single-agent", "multi-agent"]).nullish(),
});

/** Without nulls. */
export type AcpOptions = {
  [K in keyof z.infer<typeof DemianOptions>]?: NonNullable<z.infer<typeof DemianOptions>[K]>;
};

/** Options of this agent's sessions. */
export function makeOptions({ hasAgentModes }: Pick<AcpSpec, "hasAgentModes">): typeof AcpOptions {
  return hasAgentModes === true ? DemianOptions : AcpOptions;
}

/** Throws `invalid_message` with the path of the bad field; returns the block without nulls. */
export function checkAcpOptions(spec: AcpSpec, block: Record<string, unknown>): AcpOptions {
  const at = `/options/${spec.name}`;
  const checked = makeOptions(spec).safeParse(block);
  if (!checked.success) throw new CodedError("invalid_message", explainIssues(checked.error.issues, at));
  const options = Object.fromEntries(
    Object.entries(checked.data).filter(([, value]) => value != null),
  ) as AcpOptions;
  for (const key of ["cwd", "model", "mode"] as const) {
    if (options[key] !== undefined) withoutNul(options[key], `${at}/${key}`);
  }
  // Some agents accept a relative path, each with its own base.
  if (options.cwd !== undefined && !isAbsolute(options.cwd)) {
    throw new CodedError("invalid_message", `${at}/cwd: expected an absolute path, got ${options.cwd}`);
  }
  return options;
}

/**
 * The session's working directory. Throws `spawn_failed` if it is unusable, and `invalid_message` if it is not allowed.
 */
export async function chooseCwd(spec: AcpSpec, options: AcpOptions): Promise<string> {
  const cwd = options.cwd ?? spec.cwd ?? process.cwd();
  await checkCwd(cwd);
  if (spec.cwdWithin === undefined) return cwd;
  const real = await realpath(cwd);
  const roots = await Promise.all(spec.cwdWithin.map((root) => realpath(root).catch(() => root)));
  if (roots.some((root) => isWithin(root, real))) return cwd;
  throw new CodedError(
    "invalid_message",
    `/options/${spec.name}/cwd: ${cwd} is not in ${spec.cwdWithin.join(", ")} (cwd_within of agents.${spec.name})`,
  );
}

function isWithin(root: string, path: string): boolean {
  const rest = relative(root, path);
  return rest === "" || (!rest.startsWith("..") && !isAbsolute(rest));
}
