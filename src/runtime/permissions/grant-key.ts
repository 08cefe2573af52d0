// What "always" is about: exactly this command, this directory for this tool, or this one thing.
import { isDeepStrictEqual } from "node:util";
import type { GrantKey, PermissionTarget } from "./types.ts";

/** The name that rules and calls mean: `demian.bash` is our `bash`, `claudecode.Bash` is Claude Code's `Bash`. */
export function bareName(tool: string, executor: string | undefined): string {
  const prefix = `${executor ?? "demian"}.`;
  return tool.startsWith(prefix) ? tool.slice(prefix.length) : tool;
}

/**
 * Undefined: it can only be allowed once. What was allowed to us is not allowed to another executor, nor the other way
 * round: the same words are not held by the same sandbox.
 */
export function grantKeyOf(name: string, target: PermissionTarget, executor?: string): GrantKey | undefined {
  const tool = executor === undefined ? name : `${executor}.${name}`;
  if (target.kind === "other") return { kind: "other", tool, key: target.key };
  if (target.kind === "agent") {
    const { agent, provider, digest } = target;
    return { kind: "agent", agent, provider, ...(digest === undefined ? {} : { digest }) };
  }
  if (target.kind === "command") {
    if (target.resolved?.isGrantable !== true) return undefined;
    const { argv, executable } = target.resolved;
    const by = executor === undefined ? {} : { executor };
    return { kind: "command", argv, executable, cwd: target.cwd, ...by };
  }
  if (target.access === "write") return { kind: "write", tool, directory: directoryOf(target.real) };
  return { kind: "other", tool, key: `read ${target.real}` };
}

export function isSameKey(a: GrantKey, b: GrantKey): boolean {
  return isDeepStrictEqual(a, b);
}

/** In words, for the one who is asked. */
export function describeKey(key: GrantKey): string {
  if (key.kind === "command") {
    const { executable, executor, cwd } = key;
    return `exactly this command (${executable}) ${executor === undefined ? `in ${cwd}` : `of ${executor}, wherever its shell is`}`;
  }
  if (key.kind === "write") {
    return `${key.tool} for every file directly in ${key.directory === "." ? "the root of the workspace" : `${key.directory}/`}`;
  }
  if (key.kind === "agent") {
    const until = key.digest === undefined ? "" : ", until the project changes its definition";
    return `starting the agent ${key.agent} with the provider ${key.provider}${until}`;
  }
  return `${key.tool} for exactly this`;
}

function directoryOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "." : path.slice(0, slash);
}
