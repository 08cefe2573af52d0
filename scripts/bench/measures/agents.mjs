// Resident memory of the agents themselves: real Codex sessions after one turn each, in one shared process and in a
// process each. The model is the scripted one of the tests.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startMockResponses } from "../../../test/tools/mock-responses.mjs";
import { descendantsOf, IS_LINUX, memoryMb } from "../proc.mjs";
import { findAgent, furnishCodex, sayHowToInstall } from "../real-agents.mjs";
import { connectTo } from "../sessions.mjs";
import { startDaemon } from "../targets.mjs";

const SETTLE_MS = 1000;

/** @param {import("../plan.mjs").Context} context */
export async function agents(context) {
  const { plan, progress } = context;
  const reason = reasonToSkip();
  if (reason !== undefined) {
    progress(`skipped: ${reason}`);
    return [];
  }
  progress(`${plan.agentSessions} Codex sessions`);
  const model = await startMockResponses();
  try {
    const value = await memoryOf(context, model.url, { own_process: false });
    const reference = await memoryOf(context, model.url, { own_process: true });
    const measure = `RSS of the agents, ${plan.agentSessions} Codex sessions`;
    return [
      {
        id: "agents.codex",
        measure,
        store: "memory",
        unit: "MB",
        value,
        reference,
        reference_name: "a process each",
      },
    ];
  } finally {
    await model.close();
  }
}

function reasonToSkip() {
  if (!IS_LINUX) return "a process's memory can be read only on Linux";
  if (findAgent("codex") === undefined) return sayHowToInstall("codex");
  return undefined;
}

/**
 * @param {import("../plan.mjs").Context} context
 * @param {string} modelUrl
 * @param {{ own_process: boolean }} how
 * @returns {Promise<number>} MB of all processes below the daemon
 */
async function memoryOf(context, modelUrl, how) {
  const directory = context.bench.makeDirectory();
  const [cwd, temp] = ["project", "tmp"].map((name) => join(directory, name));
  for (const path of [cwd, temp]) mkdirSync(path);
  const env = { ...furnishCodex(directory, modelUrl), BLEMEESD_CODEX: findAgent("codex"), TMPDIR: temp };
  const daemon = await startDaemon(context, "memory", { directory, env });
  const sessions = await connectTo(daemon.socketPath);
  const options = { cwd, sandbox: "read-only", "approval-policy": "never", ...how };
  for (let n = 0; n < context.plan.agentSessions; n++) {
    await sessions.open(`bench-${n}`, "codex", options);
    await sessions.turn(`bench-${n}`, "#mock:text hello");
  }
  await sleep(SETTLE_MS);
  const processes = descendantsOf(daemon.pid);
  const megabytes = processes.reduce((sum, pid) => sum + memoryMb(pid, "VmRSS"), 0);
  context.progress(
    `${how.own_process ? "a process each" : "shared"}: ${processes.length} processes, ${Math.round(megabytes)} MB`,
  );
  sessions.close();
  await daemon.stop();
  return megabytes;
}
