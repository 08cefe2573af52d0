// The tool that runs commands: in the workspace, held by the sandbox, with an end to their time and their output.
import { constants } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import type { CommandResult } from "../sandbox/types.ts";
import { LiveOutput } from "./bash-live.ts";
import { defineTool } from "./define.ts";
import { type CappedOutput, OutputCollector, outputDirectory } from "./output.ts";
import { type ToolContext, ToolError, type ToolResult } from "./types.ts";

export const DEFAULT_TIMEOUT_MS = 30_000;
export const MAX_TIMEOUT_MS = 600_000;
const MAX_TITLE = 120;

const BashInput = z.strictObject({
  command: z
    .string()
    .regex(/\S/, "the command is empty")
    .refine((text) => !text.includes("\0"), "a command cannot have a NUL character in it")
    .describe("The command line, for bash -c. No input: it cannot ask questions."),
  workdir: z
    .string()
    .min(1)
    .optional()
    .describe("Directory in the workspace to run it in. Default: the workspace itself."),
  timeoutMs: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe(`Ended after so long; ${DEFAULT_TIMEOUT_MS} by default, at most ${MAX_TIMEOUT_MS}.`),
  description: z.string().optional().describe("What it is for, in a few words, for the person who is asked."),
});

export const bashTool = defineTool({
  name: "bash",
  description: [
    "Runs a command with bash in the workspace and gives back its output (stdout and stderr together) and its exit code.",
    "Each call is a new shell: directory and variables do not last, and background processes end with it.",
    "In the sandbox only the workspace and /tmp can be written, /tmp is empty at every call, .git and .env files are protected.",
    "Read and change files with the file tools, search with grep and glob.",
  ].join(" "),
  input: BashInput,
  metadata: { sideEffect: "process", defaultDecision: "ask" },
  plan: async ({ command, workdir }, context) => {
    const cwd = await directoryOf(workdir ?? ".", context);
    return { title: `bash: ${titleOf(command)}`, command, cwd, targets: [{ kind: "command", command, cwd }] };
  },
  execute: async ({ command, timeoutMs = DEFAULT_TIMEOUT_MS }, { cwd }, context) => {
    const { sandbox, signal, env, callId, workspace } = context;
    const collector = new OutputCollector({ directory: outputDirectory(workspace.root), callId });
    const live = new LiveOutput((text) => context.progress(text));
    const output = (chunk: Buffer) => {
      collector.push(chunk);
      live.push(chunk);
    };
    try {
      const order = { command, cwd: cwd ?? workspace.root, env, timeoutMs, signal, output };
      const result = await sandbox.run(order);
      live.end();
      return toResult(result, await collector.finish(), timeoutMs);
    } catch (error) {
      live.end();
      await collector.finish();
      if (!(error instanceof ToolError)) throw error;
      return {
        ok: false,
        content: error.message,
        metadata: { sandbox: sandbox.adapter ?? "none", error: error.code },
      };
    }
  },
});

async function directoryOf(workdir: string, { workspace }: ToolContext): Promise<string> {
  const located = await workspace.locate(workdir);
  const fault = !located.exists ? "does not exist" : located.isDirectory ? undefined : "is not a directory";
  if (fault === undefined) return join(workspace.root, located.real);
  throw new ToolError(located.exists ? "not_a_directory" : "not_found", `workdir ${workdir} ${fault}`);
}

/** One line of it; the whole is in the plan's `command`. */
function titleOf(command: string): string {
  const [first = "", ...more] = command.trim().split("\n");
  const cut = more.length > 0 || first.length > MAX_TITLE;
  return cut ? `${first.slice(0, MAX_TITLE)} …` : first;
}

function toResult(result: CommandResult, output: CappedOutput, timeoutMs: number): ToolResult {
  const { code, signal, timedOut, aborted, adapter } = result;
  const { content, truncated, outputFile } = output;
  const gap = content === "" || content.endsWith("\n") ? "" : "\n";
  return {
    ok: code === 0 && !timedOut && !aborted,
    content: `${content}${gap}[${content === "" ? "no output; " : ""}${endOf(result, timeoutMs)}]`,
    metadata: {
      sandbox: adapter,
      ...(code === undefined ? {} : { exitCode: code }),
      ...(signal === undefined ? {} : { signal }),
      ...(timedOut ? { timedOut } : {}),
      ...(aborted ? { aborted } : {}),
      ...(truncated ? { truncated } : {}),
      ...(outputFile === undefined ? {} : { outputFile }),
    },
  };
}

function endOf({ code, signal, timedOut, aborted }: CommandResult, timeoutMs: number): string {
  if (timedOut)
    return `timed out after ${timeoutMs} ms and was ended; give a larger timeoutMs if it needs longer`;
  if (aborted) return "aborted";
  if (code === undefined) return `ended by ${signal ?? "an unknown signal"}`;
  // A shell says 128 + number for a command that a signal ended.
  const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return name === undefined ? `exit code ${code}` : `exit code ${code}: ${name}`;
}
