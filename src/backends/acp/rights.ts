// The rights of an ACP agent's session, from its options. Agents name their modes themselves: an unknown one counts as the
// widest.
import { listRoots, ORDINARY, type SessionRights } from "../rights.ts";
import type { AcpOptions } from "./options.ts";

const MODES: Readonly<Record<string, number>> = {
  plan: 0,
  read_only: 0,
  "read-only": 0,
  default: 1,
  ask: 1,
  build: 1,
  code: 1,
  acceptEdits: 2,
  auto_edit: 2,
  autoEdit: 2,
};
const WIDEST = 3;
/** Settings that give no rights. */
const HARMLESS: ReadonlySet<string> = new Set([
  "model",
  "effort",
  "reasoning_effort",
  "thought_level",
  "pace_ms",
]);

export function readAcpRights(options: AcpOptions): SessionRights {
  const { mode, config = {} } = options;
  const level = mode === undefined ? ORDINARY.mode : (MODES[mode] ?? WIDEST);
  const settings = Object.entries(config).filter(([id]) => !HARMLESS.has(id));
  return {
    levels: {
      approvals: { level: options.approvals === false ? 1 : ORDINARY.approvals, option: "approvals" },
      mode: { level, option: "mode" },
      sandbox: { level: level === WIDEST ? 2 : ORDINARY.sandbox, option: "mode" },
      network: { level: ORDINARY.network, option: "mode" },
    },
    roots: listRoots(options, ["cwd"]),
    code: Object.fromEntries(settings.map(([id, value]) => [`config.${id}`, value])),
    denies: [],
  };
}
