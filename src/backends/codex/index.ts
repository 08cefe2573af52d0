// The Codex backend: threads in a `codex app-server` that sessions share, or `codex mcp-server` for Codex ≤ 0.153.

import { CodedError } from "../../base/coded-error.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { asObject, asString, defined } from "../../base/values.ts";
import { Pool } from "../pool.ts";
import type { RunsHost } from "../runs-host.ts";
import type { Backend, Environment } from "../types.ts";
import { createCodexSettings } from "./app-server/adjust.ts";
import { adoptAppServer } from "./app-server/adopt.ts";
import { findThread, listThreads } from "./app-server/listing.ts";
import { startAppServer } from "./app-server/process.ts";
import { startAppServerRun } from "./app-server/start.ts";
import { CodexDetector } from "./detect.ts";
import { startMcpRun } from "./mcp-server/run.ts";
import { CodexOptions, checkCodexOptions } from "./options.ts";
import { getCodexHome } from "./paths.ts";
import type { Transport } from "./program.ts";
import { readCodexRights } from "./rights.ts";
import { createRollouts, findRollout, listRollouts } from "./rollouts.ts";

export interface CodexBackendOptions {
  /** A path, or a name on PATH. */
  bin: string;
  /** Inherited by every codex. */
  env: Environment;
  transport?: "auto" | Transport;
  /** Whether every session has its own process. */
  process?: "shared" | "per-session";
  /** A turn that only retries its connection for this long is ended; 0 disables. */
  retryLimitMs?: number;
  /** Keys of `config` that are passed on although they are code. */
  allowConfig?: readonly string[];
  /** Longer stdout lines are skipped. */
  maxLineBytes?: number;
  /** How long a shared process outlives its last session. */
  lingerMs?: number;
  /** For messages that concern no session. */
  log?: Log;
  /** Absent: agents end with the daemon. */
  runs?: RunsHost | undefined;
}

const LINGER_MS = 5000;
const RETRY_LIMIT_MS = 300_000;

export function createCodexBackend(setup: CodexBackendOptions): Backend {
  const { bin, env, transport = "auto", maxLineBytes = 16 * 1024 * 1024, log } = setup;
  const detector = new CodexDetector({ bin, env, transport, maxLineBytes, ...defined({ log }) });
  const pool = new Pool({ start: startAppServer, lingerMs: setup.lingerMs ?? LINGER_MS });
  const retryLimitMs = setup.retryLimitMs ?? RETRY_LIMIT_MS;
  const { runs } = setup;
  const home = getCodexHome(env);
  const check = (block: Record<string, unknown>) =>
    checkCodexOptions(block, { allowConfig: setup.allowConfig ?? [], transport: detector.transport });
  return {
    name: "codex",
    inputHasCached: true,
    readsQuota: true,
    get provider() {
      return detector.transport === "mcp-server" ? "codex" : "codex-app";
    },
    options: CodexOptions,
    get extras() {
      return detector.transport === "mcp-server" ? undefined : { tools: true, mcp: true };
    },
    // Its own configuration decides when it asks; it does by default.
    spawnOptions: ({ approvals, ...wish }) => ({
      ...wish,
      ...(approvals ? {} : { "approval-policy": "never" }),
    }),
    checkOptions: check,
    account: ({ profile, config }) => {
      const { model_provider: provider } = asObject(config);
      return asString(profile) ?? asString(provider) ?? "default";
    },
    rights: (options) => readCodexRights(options),
    get canRewind() {
      return detector.transport !== "mcp-server";
    },
    detect: async () => (await detector.detect())?.version,
    start: async (order, sink) => {
      const detected = await detector.detect();
      const command = detected?.path ?? (await detector.find());
      if (command === undefined) throw notFoundError(bin);
      const program = detector.program(command);
      // Started even if it did not answer the handshake: its output says what is wrong.
      const chosen = detected?.transport ?? (transport === "auto" ? "app-server" : transport);
      if (chosen === "mcp-server") return startMcpRun(program, order, sink);
      const perSession = setup.process === "per-session";
      return startAppServerRun({ program, pool, perSession, retryLimitMs, runs }, order, sink);
    },
    adopt: async (run, sessions) => {
      if (runs === undefined) throw new Error("this daemon keeps no runs");
      await adoptAppServer({ pool, retryLimitMs, runs, maxLineBytes, log: log ?? silentLog }, run, sessions);
    },
    listTranscripts: async (filter) => {
      const [server] = pool.running;
      const rows = server === undefined ? undefined : await listThreads(server, filter);
      return rows ?? listRollouts(home, filter);
    },
    findTranscript: async (session_id) => {
      const [server] = pool.running;
      const row = server === undefined ? undefined : await findThread(server, session_id);
      return row ?? findRollout(home, session_id);
    },
    settings: createCodexSettings(check),
    transcripts: createRollouts(home),
    close: () => pool.close(),
  };
}

function notFoundError(bin: string): CodedError {
  const where = bin.includes("/") ? `${bin} is not an executable file` : `${bin} not found on PATH`;
  return new CodedError("spawn_failed", `${where}; set --codex or BLEMEESD_CODEX`);
}
