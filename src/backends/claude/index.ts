// The Claude Code backend: one `claude -p` process per session, in stream-json.
import type { RunsHost } from "../runs-host.ts";
import type { Backend, Environment } from "../types.ts";
import { CLAUDE_SETTINGS } from "./adjust.ts";
import { ClaudeDetector } from "./detect.ts";
import { ClaudeOptions, checkClaudeOptions } from "./options.ts";
import { readClaudeRights } from "./rights.ts";
import { adoptClaude, startClaude } from "./start.ts";
import { createTranscripts, deleteTranscript, findTranscript, listTranscripts } from "./transcripts.ts";

export interface ClaudeBackendOptions {
  /** A path, or a name to look up on PATH. */
  bin: string;
  /** The environment that every claude inherits. */
  env: Environment;
  /** Longer lines of stdout are skipped. */
  maxLineBytes?: number;
  /** Absent: agents end with the daemon. */
  runs?: RunsHost | undefined;
}

export function createClaudeBackend(setup: ClaudeBackendOptions): Backend {
  const { bin, env, maxLineBytes = 16 * 1024 * 1024, runs } = setup;
  const detector = new ClaudeDetector(bin, env);
  return {
    name: "claude",
    readsQuota: true,
    reportsCost: true,
    options: ClaudeOptions,
    extras: { tools: true, mcp: true },
    checkOptions: (block) => checkClaudeOptions(block),
    // Partial messages show text and tool calls as they happen.
    spawnOptions: ({ approvals, ...wish }) => ({
      ...wish,
      include_partial_messages: true,
      ...(approvals ? { approvals } : {}),
    }),
    rights: (options) => readClaudeRights(options),
    canRewind: true,
    detect: async () => (await detector.detect())?.version,
    start: async (order, sink) =>
      startClaude({ bin, env, maxLineBytes, runs, detected: await detector.detect() }, order, sink),
    adopt: (run, sessions) =>
      adoptClaude({ bin, env, maxLineBytes, runs, detected: undefined }, run, sessions),
    listTranscripts: (filter) => listTranscripts(env, filter),
    findTranscript: (session_id) => findTranscript(env, session_id),
    settings: CLAUDE_SETTINGS,
    transcripts: createTranscripts(env),
    deleteTranscript: (session_id, cwd) => deleteTranscript(env, session_id, cwd),
  };
}
