// A hook that runs a user's command: one line of JSON on stdin, JSON or nothing on stdout.

import * as z from "zod";
import { type ChildExit, startChild } from "../../base/child.ts";
import { cutExcerpt } from "../../base/excerpt.ts";
import { explainIssues } from "../../base/schema.ts";
import { defined } from "../../base/values.ts";
import { type Hook, type HookConfig, type HookInput, type HookResult, MAX_TIMEOUT_MS } from "./types.ts";

export interface CommandHookContext {
  /** The workspace. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

const SHELL = "/bin/sh";
/** Our own marker, so that only the hook's leftover processes are killed. */
const MARKER = "DEMIAN_HOOK_RUN_ID";
const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_ERROR_LINES = 20;
const MAX_SHOWN = 500;

/** Strict: a misspelled "decison" must not pass as consent. */
const Result = z.strictObject({
  decision: z.enum(["allow", "warn", "block"]).optional(),
  message: z.string().optional(),
  patch: z.unknown().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

export function createCommandHook(config: HookConfig, context: CommandHookContext): Hook {
  return {
    name: config.name,
    event: config.event,
    kind: "command",
    onError: config.onError ?? "warn",
    ...defined({ match: config.match, timeoutMs: config.timeoutMs }),
    run: (input, signal) => runCommand(config.command, input, context, signal),
  };
}

async function runCommand(
  command: string,
  input: HookInput,
  { cwd, env }: CommandHookContext,
  signal: AbortSignal,
): Promise<HookResult> {
  signal.throwIfAborted();
  const chunks: Buffer[] = [];
  const errors: string[] = [];
  let size = 0;
  let tooMuch: () => void = () => undefined;
  const child = await startChild(
    { command: SHELL, args: ["-c", command], cwd, env: { ...env, [MARKER]: undefined }, marker: MARKER },
    {
      output: (chunk) => {
        size += chunk.length;
        if (size <= MAX_OUTPUT_BYTES) chunks.push(chunk);
        else tooMuch();
      },
      errorLine: (line) => {
        if (errors.length < MAX_ERROR_LINES) errors.push(line);
      },
    },
  );
  // A hook may ignore its input; the broken pipe is not a failure.
  void child.write(JSON.stringify(input)).catch(() => undefined);
  // Closes stdin and waits for the exit; the dispatcher has the timeout. A second stop kills at once.
  void child.stop({ finishMs: MAX_TIMEOUT_MS, graceMs: 0 });
  const stop = () => void child.stop();
  tooMuch = stop;
  if (signal.aborted || size > MAX_OUTPUT_BYTES) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const exit = await child.done;
    signal.throwIfAborted();
    if (size > MAX_OUTPUT_BYTES) throw new Error(`it printed more than ${MAX_OUTPUT_BYTES} bytes`);
    if (exit.code !== 0) throw new Error(describeExit(exit, errors));
    return parseResult(Buffer.concat(chunks).toString("utf8"));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function describeExit({ code, signal }: ChildExit, errors: readonly string[]): string {
  const end = signal === undefined ? `it exited with code ${code}` : `it was killed by ${signal}`;
  const output = errors.join("\n").trim();
  return output === "" ? end : `${end}: ${cutExcerpt(output, MAX_SHOWN)}`;
}

function parseResult(output: string): HookResult {
  if (output.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    throw new Error(`its output is not JSON: ${cutExcerpt(output.trim(), MAX_SHOWN)}`);
  }
  const result = Result.safeParse(value);
  if (!result.success) throw new Error(`its output is invalid: ${explainIssues(result.error.issues)}`);
  const { decision, message, patch, metadata } = result.data;
  return defined({ decision, message, patch, metadata });
}
