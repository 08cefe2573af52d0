// What "always" is about: exactly this command, this directory for this tool, or this one thing.
import { isDeepStrictEqual } from "node:util";
import type { GrantKey, PermissionTarget } from "./types.ts";

/** Undefined: it can only be allowed once. */
export function grantKeyOf(tool: string, target: PermissionTarget): GrantKey | undefined {
  if (target.kind === "other") return { kind: "other", tool, key: target.key };
  if (target.kind === "agent") return target;
  if (target.kind === "command") {
    if (target.resolved?.isGrantable !== true) return undefined;
    const { argv, executable } = target.resolved;
    return { kind: "command", argv, executable, cwd: target.cwd };
  }
  if (target.access === "write") return { kind: "write", tool, directory: directoryOf(target.real) };
  return { kind: "other", tool, key: `read ${target.real}` };
}

export function isSameKey(a: GrantKey, b: GrantKey): boolean {
  return isDeepStrictEqual(a, b);
}

/** In words, for the one who is asked. */
export function describeKey(key: GrantKey): string {
  if (key.kind === "command") return `exactly this command (${key.executable}) in ${key.cwd}`;
  if (key.kind === "write") {
    return `${key.tool} for every file directly in ${key.directory === "." ? "the root of the workspace" : `${key.directory}/`}`;
  }
  if (key.kind === "agent") return `starting the agent ${key.agent} with the provider ${key.provider}`;
  return `${key.tool} for exactly this`;
}

function directoryOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "." : path.slice(0, slash);
}
