// Runs a command that the user typed: in the same sandbox as the agent's, without approval. The model reads its output with
// the next message.
import { randomUUID } from "node:crypto";
import { toMessage } from "../base/coded-error.ts";
import { buildHookInput, type Services } from "./services.ts";
import { describeEnd } from "./tools/bash-end.ts";
import { getOutputDirectory, OutputCollector } from "./tools/output.ts";

export interface UserCommand {
  command: string;
  signal: AbortSignal;
}

export interface UserCommandResult {
  /** The beginning and the end, if it is long. */
  output: string;
  /** "exit code 0" */
  end: string;
  isGood: boolean;
}

const TIMEOUT_MS = 600_000;

/** Never rejects: a command that cannot be started is one that has failed. */
export async function runUserCommand(
  { sandbox, workspace, env }: Services,
  { command, signal }: UserCommand,
): Promise<UserCommandResult> {
  const directory = getOutputDirectory(workspace.root);
  const collector = new OutputCollector({ directory, callId: `user-${randomUUID().slice(0, 8)}` });
  const output = (chunk: Buffer): void => collector.push(chunk);
  try {
    const order = { command, cwd: workspace.root, env, timeoutMs: TIMEOUT_MS, signal, output };
    const result = await sandbox.run(order);
    const { content } = await collector.finish();
    return { output: content, end: describeEnd(result, TIMEOUT_MS), isGood: result.code === 0 };
  } catch (error) {
    const { content } = await collector.finish();
    return { output: content, end: toMessage(error), isGood: false };
  }
}

/** As the model reads it: hooks may change or withhold the output, as they do for the tool bash. */
export async function describeUserCommand(
  services: Services,
  { command, signal }: UserCommand,
  { output, end, isGood }: UserCommandResult,
): Promise<string> {
  const said = await services.hooks.dispatch(
    buildHookInput(services, "PostToolUse", {
      callId: "user",
      toolName: "bash",
      toolResult: { ok: isGood, content: output },
    }),
    signal.aborted ? new AbortController().signal : signal,
  );
  const patch = said.patch as { content?: unknown } | undefined;
  const shown = said.blocked
    ? `[a hook withheld the output: ${said.reason ?? "no reason given"}]`
    : typeof patch?.content === "string"
      ? patch.content
      : output;
  const gap = shown === "" || shown.endsWith("\n") ? "" : "\n";
  return `The user ran a command:\n<user_command>\n$ ${command}\n${shown}${gap}[${end}]\n</user_command>`;
}
