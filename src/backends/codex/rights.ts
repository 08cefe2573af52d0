// The rights of a Codex session, from its options.
import { listRoots, ORDINARY, omitOptions, type SessionRights, WIDEST, WITHIN_SANDBOX } from "../rights.ts";
import { listUnknownKeys } from "./config-keys.ts";
import type { CodexOptions } from "./options.ts";

const SANDBOXES: Readonly<Record<NonNullable<CodexOptions["sandbox"]>, number>> = {
  "read-only": 0,
  "workspace-write": 1,
  "danger-full-access": 2,
};
/** Before nearly every command. */
const ASKS_ALWAYS = 0;

/** They give no rights. */
const HARMLESS: readonly (keyof CodexOptions)[] = [
  ...(["model", "effort", "base-instructions", "developer-instructions", "compact-prompt"] as const),
  ...(["include_raw_events", "user_echo", "output_schema", "own_process"] as const),
];
const RATED: readonly (keyof CodexOptions)[] = [
  ...(["cwd", "sandbox", "approval-policy", "collaboration_mode", "config"] as const),
];
const KNOWN: ReadonlySet<string> = new Set([...HARMLESS, ...RATED]);

export function readCodexRights(options: CodexOptions): SessionRights {
  const { sandbox, config = {} } = options;
  const isFree = sandbox === "danger-full-access";
  const policy = options["approval-policy"];
  const isSet = sandbox !== undefined;
  return {
    levels: {
      approvals: {
        level: rateApprovals(policy, isFree),
        option: isFree && policy !== "untrusted" && !isSilent(policy) ? "sandbox" : "approval-policy",
        isSet: policy !== undefined,
      },
      mode: {
        level: options.collaboration_mode === "plan" ? 0 : isFree ? WIDEST.mode : ORDINARY.mode,
        option: isFree ? "sandbox" : "collaboration_mode",
        isSet: options.collaboration_mode !== undefined,
      },
      sandbox: {
        level: sandbox === undefined ? ORDINARY.sandbox : SANDBOXES[sandbox],
        option: "sandbox",
        isSet,
      },
      network: { level: isFree ? WIDEST.network : ORDINARY.network, option: "sandbox", isSet },
    },
    roots: listRoots(options, ["cwd"]),
    // Also what the daemon's codex_allow_config let pass: for people, not for agents.
    code: { ...omitOptions(options, KNOWN), ...listUnknownKeys(config) },
    additions: {},
    denies: [],
  };
}

/** Codex itself declines what a policy does not ask for, and does the rest in its sandbox. */
function rateApprovals(policy: CodexOptions["approval-policy"], isFree: boolean): number {
  // Also with full access: what runs unasked then is only what Codex knows to be harmless.
  if (policy === "untrusted") return ASKS_ALWAYS;
  if (isFree) return WIDEST.approvals;
  return isSilent(policy) ? WITHIN_SANDBOX : ORDINARY.approvals;
}

function isSilent(policy: CodexOptions["approval-policy"]): boolean {
  return policy === "never" || (typeof policy === "object" && !policy.granular.sandbox_approval);
}
