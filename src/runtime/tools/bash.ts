// bash: runs a command in the workspace, in the sandbox, with limits on time and output.
import { join } from "node:path";
import * as z from "zod";
import { defined } from "../../base/values.ts";
import type { JobOrder } from "../jobs/jobs.ts";
import type { CommandResult } from "../sandbox/types.ts";
import { describeEnd } from "./bash-end.ts";
import { LiveOutput } from "./bash-live.ts";
import { defineTool } from "./define.ts";
import { requireJobs } from "./jobs.ts";
import { type CappedOutput, getOutputDirectory, OutputCollector } from "./output.ts";
import { type ToolContext, ToolError, type ToolResult } from "./types.ts";

export const DEFAULT_TIMEOUT_MS = 30_000;
export const MAX_TIMEOUT_MS = 600_000;
const MAX_TITLE = 120;

const BashInput = z.strictObject({
  command: z
    .string()
    .regex(/\S/, "the command is empty")
    .refine((text) => !text.includes("\0"), "a command cannot contain a NUL character")
    .describe("The command for bash -c. Stdin is empty, so it cannot prompt."),
  workdir: z
    .string()
    .min(1)
    .optional()
    .describe("Working directory, within the workspace. Default: the workspace root."),
  timeoutMs: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS)
    .optional()
    .describe(`Timeout in ms (default ${DEFAULT_TIMEOUT_MS}, max ${MAX_TIMEOUT_MS}).`),
  background: z
    .boolean()
    .optional()
    .describe("Return at once; for servers and watchers. tail_job shows the output, kill_job ends it."),
  description: z
    .string()
    .optional()
    .describe("What the command does, in a few words. Shown to the user when asking for approval."),
});

export const bashTool = defineTool({
  name: "bash",
  description: [
    "Runs a bash command in the workspace and returns its output (stdout and stderr combined) and exit code.",
    "Each call starts a new shell: the directory and variables are not kept, and processes started with & end with the call.",
    "In the sandbox only the workspace and /tmp are writable, /tmp starts empty on each call, and .git and .env files are protected.",
    "Use the file tools to read and change files, and grep and glob to search.",
  ].join(" "),
  input: BashInput,
  metadata: { sideEffect: "process", defaultDecision: "ask" },
  plan: async ({ command, workdir, background }, context) => {
    const cwd = await findDirectory(workdir ?? ".", context);
    return {
      title: `bash${background ? " in the background" : ""}: ${formatTitle(command)}`,
      command,
      cwd,
      targets: [{ kind: "command", command, cwd }],
    };
  },
  execute: async ({ command, timeoutMs: limit, background }, { cwd }, context) => {
    const { sandbox, signal, env, callId, workspace } = context;
    if (background) return startJob({ command, cwd: cwd ?? workspace.root, env, timeoutMs: limit }, context);
    const timeoutMs = limit ?? DEFAULT_TIMEOUT_MS;
    const collector = new OutputCollector({ directory: getOutputDirectory(workspace.root), callId });
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

function startJob(order: JobOrder, context: ToolContext): ToolResult {
  const { id } = requireJobs(context).start(order);
  const content = `started job ${id}; it ends with the session`;
  return { ok: true, content, metadata: { sandbox: context.sandbox.adapter ?? "none", job: id } };
}

async function findDirectory(workdir: string, { workspace }: ToolContext): Promise<string> {
  const located = await workspace.locate(workdir);
  const fault = !located.exists ? "does not exist" : located.isDirectory ? undefined : "is not a directory";
  if (fault === undefined) return join(workspace.root, located.real);
  throw new ToolError(located.exists ? "not_a_directory" : "not_found", `workdir ${workdir} ${fault}`);
}

/** First line only; the plan's `command` has all of it. */
function formatTitle(command: string): string {
  const [first = "", ...more] = command.trim().split("\n");
  const cut = more.length > 0 || first.length > MAX_TITLE;
  return cut ? `${first.slice(0, MAX_TITLE)} …` : first;
}

function toResult(result: CommandResult, output: CappedOutput, timeoutMs: number): ToolResult {
  const { code, signal, timedOut, aborted, exceeded, adapter } = result;
  const { content, truncated, outputFile } = output;
  const gap = content === "" || content.endsWith("\n") ? "" : "\n";
  return {
    ok: code === 0 && !timedOut && !aborted && exceeded === undefined,
    content: `${content}${gap}[${content === "" ? "no output; " : ""}${describeEnd(result, timeoutMs)}]`,
    metadata: {
      sandbox: adapter,
      ...defined({ exitCode: code, signal }),
      ...(timedOut ? { timedOut } : {}),
      ...(aborted ? { aborted } : {}),
      ...defined({ exceeded }),
      ...(truncated ? { truncated } : {}),
      ...defined({ outputFile }),
    },
  };
}
