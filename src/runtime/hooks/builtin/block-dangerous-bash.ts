// Stops commands that destroy a machine or run code from the network unseen, and those that name environment files,
// before anybody is asked. Not complete (§9): the sandbox is what holds.
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
      const fault = typeof command === "string" ? judge(command) : "the command is no text";
      return Promise.resolve(fault === undefined ? {} : { decision: "block", message: fault });
    },
  };
}

function judge(command: string): string | undefined {
  const danger = findDanger(command);
  if (danger !== undefined) return `the command ${danger}. Do it in a narrower way, or leave it to the user.`;
  const file = findEnvFile(command);
  if (file === undefined) return undefined;
  return `the command names ${file}, an environment file that may hold secrets: commands do not get to see those. Ask the user for what you need of it; .env.example may be read.`;
}
