// Inputs of the policy decision: what is known about a request, its session and the rules.
import type { ResolvedPath } from "../../base/commands/resolve-path.ts";
import type { PolicyRule } from "../../protocol/policy.ts";
import type { RequestType } from "../../protocol/requests.ts";

/** What is known about a request. Collected by facts.ts, because `decide` does no I/O. */
export interface RequestFacts {
  backend: string;
  request_type: RequestType;
  tool?: string;
  input?: unknown;
  /** The words of a plain command. */
  argv?: readonly string[];
  /** The real program; undefined if it is unknown or an agent could have created it. */
  executable?: string;
  cwd?: ResolvedPath;
  /** Files that the request names. */
  paths: readonly ResolvedPath[];
  /** Words of the command that may be paths. */
  words: ReadonlyMap<string, ResolvedPath>;
  /** Why no rule can allow it. */
  fault?: string;
}

export interface SessionFacts {
  session_id: string;
  /** Its name; absent if an agent spawned the session. */
  label?: string;
  /** Where it was started. */
  started?: ResolvedPath;
}

/** A rule and how often it was used. */
export interface CountedRule {
  rule: PolicyRule;
  /** `until` in milliseconds. */
  untilMs?: number;
  uses: number;
}
