// Starts, messages and stops agents.
import type * as z from "zod";
import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { findSession } from "./find.ts";
import type { INPUTS } from "./inputs.ts";
import { toBrief } from "./shapes.ts";
import type { ToolContext } from "./types.ts";

type Input<N extends keyof typeof INPUTS> = z.infer<(typeof INPUTS)[N]>;

export async function spawnAgent(
  input: Input<"spawn">,
  { manager, self, key }: ToolContext,
): Promise<object> {
  const { agent, prompt, worktree, ...rest } = input;
  // A child works where its parent does.
  if (self === undefined && input.cwd === undefined)
    throw new CodedError("invalid_message", "cwd: required, the directory to work in");
  const { session, notice } = await manager.spawn({
    ...defined(rest),
    ...defined({ parent: self, key }),
    ...(worktree === true ? { worktree: {} } : {}),
    backend: agent,
    message: { role: "user", content: prompt },
  });
  return { session: toBrief(session), ...defined({ notice }) };
}

export async function sendText({ id, text, now }: Input<"send">, context: ToolContext): Promise<object> {
  const { manager, key, self } = context;
  const { session_id } = await findSession(context, id);
  const message = { role: "user" as const, content: text };
  const order = { session_id, message, ...defined({ now, key, from: self }) };
  const { position } = await manager.input(order);
  return { session_id, position };
}

export async function stopAgent({ id, turn_only }: Input<"stop">, context: ToolContext): Promise<object> {
  const { manager, self } = context;
  const { session_id } = await findSession(context, id);
  if (turn_only === true) return { session_id, ...(await manager.interrupt(session_id, self)) };
  return { stopped: await manager.stop(session_id, { tree: true, ...defined({ by: self }) }) };
}
