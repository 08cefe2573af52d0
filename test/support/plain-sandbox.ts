// Sandboxes for tests of other things than sandboxes.
import { createSandbox } from "../../src/runtime/sandbox/index.ts";
import type { CommandOrder, CommandResult, Sandbox, SandboxConfig } from "../../src/runtime/sandbox/types.ts";

export const SANDBOX: SandboxConfig = {
  mode: "workspace-write",
  network: "inherit",
  allowEnvOnly: false,
  writableGit: false,
};

/** Runs commands for real, without isolation. */
export function plainSandbox(root: string): Promise<Sandbox> {
  return createSandbox({ ...SANDBOX, mode: "off" }, { root, hide: [] });
}

/** Runs nothing: the answer is the test's. */
export function scriptedSandbox(
  answer: (order: CommandOrder) => Partial<CommandResult> | Promise<Partial<CommandResult>>,
): Sandbox {
  return {
    mode: "workspace-write",
    adapter: "linux-bwrap",
    run: async (order) => ({
      timedOut: false,
      aborted: false,
      adapter: "linux-bwrap",
      ...(await answer(order)),
    }),
  };
}
