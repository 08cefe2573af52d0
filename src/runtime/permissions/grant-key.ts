// The scope of an "always": one exact command, one directory for one tool, or one other target.

import { isDeepStrictEqual } from "node:util";
import { defined } from "../../base/values.ts";
import { MCP_PREFIX } from "../mcp/names.ts";
import { WEB_FETCH } from "../web/name.ts";
import type { GrantKey, PermissionTarget } from "./types.ts";

/** `demian.bash` is our `bash`; `claudecode.Bash` is Claude Code's `Bash`. */
export function stripExecutor(tool: string, executor: string | undefined): string {
  const prefix = `${executor ?? "demian"}.`;
  return tool.startsWith(prefix) ? tool.slice(prefix.length) : tool;
}

/**
 * Undefined if the target can only be allowed once. Grants are per executor, because the same command runs in another
 * sandbox, or none.
 */
export function toGrantKey(name: string, target: PermissionTarget, executor?: string): GrantKey | undefined {
  const tool = executor === undefined ? name : `${executor}.${name}`;
  if (target.kind === "other") return { kind: "other", tool, key: target.key };
  if (target.kind === "agent") {
    const { agent, provider, digest } = target;
    return { kind: "agent", agent, provider, ...defined({ digest }) };
  }
  if (target.kind === "command") {
    if (target.resolved?.isGrantable !== true) return undefined;
    const { argv, executable } = target.resolved;
    const by = defined({ executor });
    return { kind: "command", argv, executable, cwd: target.cwd, ...by };
  }
  if (target.access === "write") return { kind: "write", tool, directory: getDirectory(target.real) };
  return { kind: "other", tool, key: `read ${target.real}` };
}

export function isSameKey(a: GrantKey, b: GrantKey): boolean {
  return isDeepStrictEqual(a, b);
}

/** For users. */
export function describeKey(key: GrantKey): string {
  if (key.kind === "command") {
    const { executable, executor, cwd } = key;
    return `exactly this command (${executable}) ${executor === undefined ? `in ${cwd}` : `by ${executor}, in any directory`}`;
  }
  if (key.kind === "write") {
    return `${key.tool} for all files directly in ${key.directory === "." ? "the workspace root" : `${key.directory}/`}`;
  }
  if (key.kind === "agent") {
    const until = key.digest === undefined ? "" : ", until its definition in the project changes";
    return `starting the agent ${key.agent} with the provider ${key.provider}${until}`;
  }
  if (key.tool.startsWith(MCP_PREFIX)) return `${key.tool} with any input, until its server changes it`;
  if (key.tool === WEB_FETCH) return `${key.tool} for all pages of ${key.key}`;
  return `${key.tool} for exactly this target`;
}

function getDirectory(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "." : path.slice(0, slash);
}
