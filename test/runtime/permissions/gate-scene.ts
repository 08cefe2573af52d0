// A gate with a user who always gives the same answer, and calls for it.
import { join } from "node:path";
import {
  createPermissionGate,
  type GateCall,
  type GateOptions,
  type PermissionGate,
} from "../../../src/runtime/permissions/gate.ts";
import { type GrantStore, openGrants } from "../../../src/runtime/permissions/grants.ts";
import type {
  PermissionAnswer,
  PermissionPrompt,
  PermissionTarget,
} from "../../../src/runtime/permissions/types.ts";

export interface Scene {
  options?: Partial<GateOptions>;
  answer?: PermissionAnswer | ((prompt: PermissionPrompt, signal: AbortSignal) => Promise<PermissionAnswer>);
}

export const ALWAYS: PermissionAnswer = { decision: "allow", always: true };
export const never = new AbortController().signal;

/** Each scene has its own directory below `base`. */
export function sceneMaker(base: string) {
  let count = 0;
  return async ({
    options = {},
    answer = { decision: "deny" },
  }: Scene = {}): Promise<{
    gate: PermissionGate;
    asked: PermissionPrompt[];
    store: GrantStore;
  }> => {
    count += 1;
    const asked: PermissionPrompt[] = [];
    const directory = join(base, `p${count}`);
    const store = await openGrants({ directory, root: "/w", persistent: true, ttlMs: 1000 });
    const gate = createPermissionGate({
      globalRules: [],
      grants: store,
      ask: (prompt, signal) => {
        asked.push(prompt);
        return typeof answer === "function" ? answer(prompt, signal) : Promise.resolve(answer);
      },
      writable: ["/w"],
      path: "/usr/bin:/bin",
      ...options,
    });
    return { gate, asked, store };
  };
}

export const bash = (command: string, over: Partial<GateCall> = {}): GateCall => ({
  tool: "bash",
  input: { command },
  plan: { title: `bash: ${command}`, targets: [{ kind: "command", command, cwd: "/w" }], command, cwd: "/w" },
  agent: { name: "build", permissions: [{ tool: "bash", decision: "ask" }] },
  sessionId: "s",
  callId: "c",
  sandbox: "linux-bwrap",
  ...over,
});

export const edit = (path: string, over: Partial<GateCall> = {}): GateCall => {
  const targets: PermissionTarget[] = [{ kind: "path", access: "write", lexical: path, real: path }];
  const plan = { title: `edit_file: ${path}`, targets, changes: [{ path, newText: "x" }] };
  return bash("", { tool: "edit_file", plan, ...over });
};
