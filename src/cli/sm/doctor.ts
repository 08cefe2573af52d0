// `sm doctor`: looks at everything a session needs and says what to do about what is not right.
import { sanitizeLine } from "../../base/sanitize.ts";
import { table } from "../output.ts";
import type { Command } from "./command.ts";
import { checkAgents, checkLogins } from "./doctor/agents.ts";
import type { Check, Patient } from "./doctor/check.ts";
import { checkDaemon, checkSocket } from "./doctor/daemon.ts";
import { checkDisk, checkNode, checkSandbox, checkState } from "./doctor/machine.ts";

const GLYPHS: Record<Check["status"], string> = { ok: "✓", warn: "!", fail: "✗" };
const STYLES = { ok: undefined, warn: "yellow", fail: "red" } as const;

export const DOCTOR: Command = {
  name: "doctor",
  usage: "doctor",
  summary: "check agents, versions, socket, sandbox, login state and disk; say what to do",
  words: [0, 0],
  examples: ["doctor", "doctor --json"],
  notes: [
    "Uses no network and starts no daemon. Exit status: 0 all well or only warnings, 1 something fails.",
  ],
  async run(_given, { output, isJson, env, version, socket, signal }) {
    const patient: Patient = { env, version, socket, signal };
    const checks = (
      await Promise.all([
        checkNode(),
        checkSocket(patient),
        checkDaemon(patient),
        checkAgents(patient),
        checkLogins(patient),
        checkSandbox(patient),
        checkState(patient),
        checkDisk(patient),
      ])
    ).flat();
    const isWell = checks.every(({ status }) => status !== "fail");
    if (isJson) await output.json({ ok: isWell, checks });
    else {
      const rows = checks.map(({ status, name, text, todo }) => [
        `${GLYPHS[status]} ${name}`,
        sanitizeLine(todo === undefined ? text : `${text}; ${todo}`),
      ]);
      const lines = table(rows, Number.POSITIVE_INFINITY);
      for (const [at, line] of lines.entries()) {
        const style = STYLES[checks[at]?.status ?? "ok"];
        if (style === undefined) await output.line(line);
        else await output.styledLine(style, line);
      }
    }
    return isWell ? 0 : 1;
  },
};
