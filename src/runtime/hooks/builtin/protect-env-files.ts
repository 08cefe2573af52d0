// Blocks file tools from environment files by name. Permissions and tools also check the real path.
import { isObject } from "../../../base/json.ts";
import { isSecretPath } from "../../workspace/protected.ts";
import type { Hook } from "../types.ts";

const PATH_FIELDS = ["path", "glob"];

export function createProtectEnvFiles(): Hook {
  return {
    name: "protect-env-files",
    event: "PreToolUse",
    kind: "builtin",
    match: { tool: "read_file|write_file|edit_file|grep|glob" },
    onError: "block",
    run: ({ toolName, toolInput }) => {
      if (!isObject(toolInput)) return Promise.resolve({});
      const fields = toolName === "glob" ? [...PATH_FIELDS, "pattern"] : PATH_FIELDS;
      const named = fields.map((field) => toolInput[field]).find(isSecret);
      if (named === undefined) return Promise.resolve({});
      return Promise.resolve({
        decision: "block",
        message: `${String(named)} is an environment file that may contain secrets; it cannot be read or changed. Ask the user for the values you need; .env.example can be read.`,
      });
    },
  };
}

function isSecret(value: unknown): boolean {
  return typeof value === "string" && isSecretPath(value.replaceAll("\\", "/"));
}
