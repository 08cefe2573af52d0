// The rights of an ACP agent's session, from its options. Agents name their modes themselves: an unknown one counts as the
// widest. Only our own is known to have a sandbox.
import {
  type Level,
  listRoots,
  ORDINARY,
  omitOptions,
  type SessionRights,
  WIDEST,
  WITHIN_SANDBOX,
} from "../rights.ts";
import type { AcpOptions } from "./options.ts";
import type { AcpSpec } from "./spec.ts";

const MODES: Readonly<Record<string, number>> = {
  plan: 0,
  read_only: 0,
  "read-only": 0,
  default: 1,
  ask: 1,
  build: 1,
  acceptEdits: 2,
  auto_edit: 2,
  autoEdit: 2,
};
/** Options that give no rights, or are rated here. */
const KNOWN: ReadonlySet<string> = new Set<keyof AcpOptions>([
  ...([
    "model",
    "agent_mode",
    "include_raw_events",
    "user_echo",
    "cwd",
    "mode",
    "config",
    "approvals",
  ] as const),
]);
/** Settings that give no rights. */
const HARMLESS: ReadonlySet<string> = new Set([
  "model",
  "effort",
  "reasoning_effort",
  "thought_level",
  "pace_ms",
]);

export function readAcpRights(
  options: AcpOptions,
  { isOurs = false, mode: usual }: Pick<AcpSpec, "isOurs" | "mode"> = {},
): SessionRights {
  const { mode = usual, config = {} } = options;
  const level = mode === undefined ? ORDINARY.mode : (MODES[mode] ?? WIDEST.mode);
  const settings = Object.entries(config).filter(([id]) => !HARMLESS.has(id));
  const isFree = level === WIDEST.mode;
  return {
    levels: {
      approvals: rateApprovals(options, isFree, isOurs),
      mode: { level, option: "mode", isSet: mode !== undefined },
      ...(isOurs
        ? {
            sandbox: { level: isFree ? WIDEST.sandbox : ORDINARY.sandbox, option: "mode" },
            network: { level: ORDINARY.network, option: "mode" },
          }
        : {
            sandbox: { level: WIDEST.sandbox, option: "backend" },
            network: { level: WIDEST.network, option: "backend" },
          }),
    },
    roots: listRoots(options, ["cwd"]),
    code: {
      ...omitOptions(options, KNOWN),
      ...Object.fromEntries(settings.map(([id, value]) => [`config.${id}`, value])),
    },
    additions: {},
    denies: [],
  };
}

/** Without approvals the daemon allows everything, except what demian's own rules deny. */
function rateApprovals({ approvals }: AcpOptions, isFree: boolean, isOurs: boolean): Level {
  const unasked = isOurs ? WITHIN_SANDBOX : WIDEST.approvals;
  if (approvals === false) return { level: unasked, option: "approvals" };
  return { level: isFree ? unasked : ORDINARY.approvals, option: isFree ? "mode" : "approvals" };
}
