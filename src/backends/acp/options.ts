// `options.<name>.*` of an ACP agent: the same for all of them, and one more for our own.
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
  /** One of the models that the agent offers. */
  model: text,
  /** One of its modes: what it may do, or when it asks. */
  mode: text,
  /** Its other settings, by their id. */
  config: z.record(z.string().min(1), z.union([z.string(), z.boolean()])).nullish(),
  /** False: what it asks is allowed once, each time, without asking anybody. */
  approvals: flag,
  include_raw_events: flag,
  user_echo: flag,
});

const DemianOptions = AcpOptions.extend({
  /** One agent, or several that delegate to each other; absent: as its configuration says. */
  agent_mode: z.enum(["single-agent", "multi-agent"]).nullish(),
});

/** The same without the nulls. */
export type AcpOptions = {
  [K in keyof z.infer<typeof DemianOptions>]?: NonNullable<z.infer<typeof DemianOptions>[K]>;
};

/** What sessions of this agent may be opened with. */
export function optionsOf({ hasAgentModes }: Pick<AcpSpec, "hasAgentModes">): typeof AcpOptions {
  return hasAgentModes === true ? DemianOptions : AcpOptions;
}

/** Throws `invalid_message` with the path of the bad field; gives back the block without nulls. */
export function checkAcpOptions(spec: AcpSpec, block: Record<string, unknown>): AcpOptions {
  const at = `/options/${spec.name}`;
  const checked = optionsOf(spec).safeParse(block);
  if (!checked.success) throw new CodedError("invalid_message", explainIssues(checked.error.issues, at));
  const options = Object.fromEntries(
    Object.entries(checked.data).filter(([, value]) => value != null),
  ) as AcpOptions;
  for (const key of ["cwd", "model", "mode"] as const) {
    if (options[key] !== undefined) withoutNul(options[key], `${at}/${key}`);
  }
  // Some agents take a relative one, and each for itself.
  if (options.cwd !== undefined && !isAbsolute(options.cwd)) {
    throw new CodedError("invalid_message", `${at}/cwd: expected an absolute path, got ${options.cwd}`);
  }
  return options;
}

/** Where the session works. Throws `spawn_failed` when it cannot, and `invalid_message` when it may not. */
export async function cwdFor(spec: AcpSpec, options: AcpOptions): Promise<string> {
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
