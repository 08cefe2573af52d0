// Sandboxes for tests that are not about sandboxes.
import { createSandbox } from "../../src/runtime/sandbox/index.ts";
import type {
  CommandRequest,
  CommandResult,
  Sandbox,
  SandboxConfig,
} from "../../src/runtime/sandbox/types.ts";

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

/** Runs nothing: the test gives the answer. */
export function scriptedSandbox(
  answer: (order: CommandRequest) => Partial<CommandResult> | Promise<Partial<CommandResult>>,
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
