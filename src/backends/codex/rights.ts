// The rights of a Codex session, from its options.
import { listRoots, ORDINARY, pickCode, type SessionRights } from "../rights.ts";
import { listRefusedKeys } from "./config-keys.ts";
import type { CodexOptions } from "./options.ts";

const SANDBOXES: Readonly<Record<NonNullable<CodexOptions["sandbox"]>, number>> = {
  "read-only": 0,
  "workspace-write": 1,
  "danger-full-access": 2,
};

export function readCodexRights(options: CodexOptions): SessionRights {
  const { sandbox, config = {} } = options;
  const isFree = sandbox === "danger-full-access";
  const isSilent = options["approval-policy"] === "never";
  return {
    levels: {
      approvals: { level: isSilent ? 1 : ORDINARY.approvals, option: "approval-policy" },
      mode: {
        level: options.collaboration_mode === "plan" ? 0 : isFree && isSilent ? 3 : ORDINARY.mode,
        option: "collaboration_mode",
      },
      sandbox: { level: sandbox === undefined ? ORDINARY.sandbox : SANDBOXES[sandbox], option: "sandbox" },
      network: { level: isFree ? 1 : ORDINARY.network, option: "sandbox" },
    },
    roots: listRoots(options, ["cwd"]),
    // The daemon's codex_allow_config let these keys pass: for people, not for agents.
    code: { ...pickCode(options, ["profile"]), ...listRefusedKeys(config) },
    denies: [],
  };
}
