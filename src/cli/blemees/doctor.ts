// `sm doctor`: checks everything a session needs, and suggests fixes.
import { showChecks } from "../checks.ts";
import type { BlemeesCommand } from "./command.ts";
import { checkAgents, checkAny, checkLogins } from "./doctor/agents.ts";
import type { CheckContext } from "./doctor/check.ts";
import { checkConfigured } from "./doctor/configured.ts";
import { checkDaemon, checkSocket } from "./doctor/daemon.ts";
import { checkDemian } from "./doctor/demian.ts";
import { checkDisk, checkNode, checkRuns, checkState } from "./doctor/machine.ts";
import { checkAudit, checkPolicy } from "./doctor/policy.ts";
import { checkSpace } from "./doctor/space.ts";

export const DOCTOR: BlemeesCommand = {
  name: "doctor",
  usage: "doctor",
  summary: "check agents, versions, socket, sandbox, logins and disk, and suggest fixes",
  words: [0, 0],
  examples: ["doctor", "doctor --json"],
  notes: [
    "Uses no network and does not start the daemon. demian is checked with this directory and the environment of this",
    "shell; the daemon has the environment it was started with. Exit status: 0 all good or only warnings, 1 a check failed.",
  ],
  async run(_given, { output, isJson, env, version, socket, signal, demianProgram }) {
    const patient: CheckContext = { env, version, socket, signal, demianProgram };
    const [base, agents, demian, configured, logins, rest] = await Promise.all([
      Promise.all([checkNode(), checkSocket(patient), checkDaemon(patient)]),
      checkAgents(patient),
      checkDemian(patient),
      checkConfigured(patient),
      checkLogins(patient),
      Promise.all([
        ...[checkState(patient), checkRuns(patient), checkDisk(patient), checkSpace(patient)],
        ...[checkPolicy(patient), checkAudit(patient)],
      ]),
    ]);
    const [own, ...sandbox] = demian;
    const found = [...agents, ...(own === undefined ? [] : [own]), ...configured];
    const checks = [...base, ...found, ...checkAny(found), ...logins, ...sandbox, ...rest];
    return showChecks(checks, { output, isJson });
  },
};
