// Blocks commands that destroy a machine, run code straight from the network, or name environment files, before the user
// is asked. Not complete: the sandbox is the security boundary.
import { isObject } from "../../../base/json.ts";
import type { Hook } from "../types.ts";
import { findDanger } from "./danger.ts";
import { findEnvFile } from "./env-names.ts";

export function createBlockDangerousBash(): Hook {
  return {
    name: "block-dangerous-bash",
    event: "PreToolUse",
    kind: "builtin",
    match: { tool: "bash" },
    onError: "block",
    run: ({ toolInput }) => {
      const command = isObject(toolInput) ? toolInput["command"] : undefined;
      const fault = typeof command === "string" ? findFault(command) : "the command is not a string";
      return Promise.resolve(fault === undefined ? {} : { decision: "block", message: fault });
    },
  };
}

function findFault(command: string): string | undefined {
  const danger = findDanger(command);
  if (danger !== undefined)
    return `the command ${danger}. Use a narrower command, or ask the user to run it.`;
  const file = findEnvFile(command);
  if (file === undefined) return undefined;
  return `the command names ${file}, an environment file that may contain secrets; commands cannot access it. Ask the user for the values you need; .env.example can be read.`;
}
