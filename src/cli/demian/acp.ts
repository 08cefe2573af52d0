// `demian acp`: hands the streams to the runtime's ACP agent. Nothing else is loaded here: whoever starts it waits.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { serveAcp } from "../../runtime/acp/index.ts";
import type { Arguments } from "../command.ts";
import type { Context } from "./command.ts";
import { EXIT_CODES, type Stop } from "./io.ts";
import { orderOf } from "./order.ts";

export async function runAcp(
  given: Arguments,
  { io, output, version, createRuntime }: Context,
): Promise<number> {
  const order = orderOf(given, io.cwd);
  // Sessions bring their own directory; this one is for clients that send none, and for relative paths.
  if (given.flags["cwd"] !== undefined) {
    try {
      io.chdir(order.cwd);
    } catch (cause) {
      throw new CodedError("bad_cwd", `--cwd: ${order.cwd} is no directory that can be entered`, { cause });
    }
  }
  if (process.stdin.isTTY) {
    output.note("· waits for an editor or another program to speak ACP (JSON lines) on stdin; Ctrl-D leaves");
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
        ...(order.agent === undefined ? {} : { agent: order.agent }),
        ...(order.provider === undefined ? {} : { provider: order.provider }),
        ...(order.model === undefined ? {} : { model: order.model }),
        ...(order.configPath === undefined ? {} : { config: order.configPath }),
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
