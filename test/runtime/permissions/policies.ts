// What tests of the pure decision have in common: a command that is certain, an empty policy, a grant that holds.
import { toGrantKey } from "../../../src/runtime/permissions/grant-key.ts";
import type { Grant, PermissionTarget, Policy } from "../../../src/runtime/permissions/types.ts";

export const command = (text: string): PermissionTarget => ({
  kind: "command",
  command: text,
  cwd: "/w",
  resolved: { argv: text.split(" "), executable: `/usr/bin/${text.split(" ")[0]}`, isGrantable: true },
});

export const policy = (over: Partial<Policy> = {}): Policy => ({
  globalRules: [],
  agentRules: [],
  grants: [],
  nowMs: 100,
  ...over,
});

export const grantFor = (tool: string, target: PermissionTarget): Grant => {
  const key = toGrantKey(tool, target);
  if (key === undefined) throw new Error("no key");
  return { key, scope: "project", grantedAtMs: 0, expiresAtMs: 1000 };
};
