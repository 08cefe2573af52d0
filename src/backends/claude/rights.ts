// The rights of a Claude session, from its options.
import { listRoots, ORDINARY, pickCode, type SessionRights } from "../rights.ts";
import type { ClaudeOptions } from "./options.ts";

/** `auto` lets a model decide what to ask; `dontAsk` refuses what is not allowed by a rule. */
const MODES: Readonly<Record<NonNullable<ClaudeOptions["permission_mode"]>, number>> = {
  plan: 0,
  default: 1,
  dontAsk: 1,
  acceptEdits: 2,
  auto: 3,
  bypassPermissions: 3,
};

const CODE = ["settings", "mcp_config", "plugin_dir", "agents", "setting_sources"];

export function readClaudeRights(options: ClaudeOptions): SessionRights {
  const mode = MODES[options.permission_mode ?? "default"];
  const isFree = mode === 3;
  return {
    levels: {
      approvals: { level: options.approvals === true ? 0 : 1, option: "approvals" },
      mode: { level: mode, option: "permission_mode" },
      sandbox: { level: isFree ? 2 : ORDINARY.sandbox, option: "permission_mode" },
      network: { level: isFree ? 1 : ORDINARY.network, option: "permission_mode" },
    },
    roots: listRoots(options, ["cwd", "add_dir"]),
    code: pickCode(options, CODE),
    denies: [
      ...(options.disallowed_tools ?? []),
      ...(options.tools === undefined ? [] : [`all tools but ${JSON.stringify(options.tools)}`]),
    ],
  };
}
