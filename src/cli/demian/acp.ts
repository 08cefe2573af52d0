// `demian acp`: connects stdin and stdout to the runtime's ACP agent. Loads nothing else, so editors start it quickly.

import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import { serveAcp } from "../../runtime/acp/index.ts";
import type { Arguments } from "../command.ts";
import type { DemianContext } from "./command.ts";
import { EXIT_CODES, type Stop } from "./io.ts";
import { readOrder } from "./order.ts";

export async function runAcp(
  given: Arguments,
  { io, output, version, createRuntime }: DemianContext,
): Promise<number> {
  const order = readOrder(given, io.cwd);
  // For relative paths; each session has its own directory.
  if (given.flags["cwd"] !== undefined) {
    try {
      io.chdir(order.cwd);
    } catch (cause) {
      throw new CodedError("bad_cwd", `--cwd: cannot change to directory ${order.cwd}`, { cause });
    }
  }
  if (process.stdin.isTTY) {
    output.note("· waiting for ACP messages (JSON lines) on stdin; Ctrl-D exits");
  }
  const abort = new AbortController();
  let stopped: Stop | undefined;
  const unlisten = io.onStop((stop) => {
    if (stopped !== undefined && stop !== "reader_gone") io.exit(EXIT_CODES[stop]);
    stopped ??= stop;
    abort.abort();
  });
  try {
    await serveAcp({
      input: process.stdin,
      output: process.stdout,
      env: io.env,
      version,
      warn: (message) => void io.stderr.write(`! ${sanitizeLine(message)}\n`),
      signal: abort.signal,
      ...(given.flags["demo"] === true ? { createRuntime } : {}),
      flags: {
        ...defined({
          agent: order.agent,
          provider: order.provider,
          model: order.model,
          effort: order.effort,
          config: order.configPath,
        }),
        ...(order.yes ? { yes: true } : {}),
        ...(order.dryRun ? { dryRun: true } : {}),
        ...(order.transcript === false ? { noTranscript: true } : {}),
        ...(Object.keys(order.flags).length === 0 ? {} : { settings: order.flags }),
      },
    });
  } finally {
    unlisten();
  }
  return stopped === undefined ? 0 : EXIT_CODES[stopped];
}
