// Runs one call of a tool module with a narrow context. Anything it does (throw, hang, return nonsense) becomes a
// result.

import { toMessage } from "../../base/coded-error.ts";
import { isObject } from "../../base/json.ts";
import { defined } from "../../base/values.ts";
import { awaitUnlessAborted } from "../abort.ts";
import { capOutput } from "./output.ts";
import { type ToolContext, ToolError, type ToolResult, type UserQuestion } from "./types.ts";

/** What a module can use: no permissions, no agents, no workspace handle. */
export interface ModuleContext {
  /** The workspace, absolute. */
  cwd: string;
  /** Aborted with the turn, or when the call times out. */
  signal: AbortSignal;
  sessionId: string;
  callId: string;
  agent: string;
  /** Shows output while the tool runs. */
  progress(text: string): void;
  /** Only if a user can be asked. Undefined: no answer. */
  question?(question: UserQuestion): Promise<string | undefined>;
}

export type ModuleExecute = (input: unknown, context: ModuleContext) => unknown;

const CALL_LIMIT_MS = 600_000;
const MAX_PROGRESS = 16_384;
const MAX_METADATA_BYTES = 16_384;

export async function callModule(
  name: string,
  execute: ModuleExecute,
  input: unknown,
  context: ToolContext,
  limitMs = CALL_LIMIT_MS,
): Promise<ToolResult> {
  // Also for a tool declared free of side effects: that cannot be verified.
  if (context.dryRun)
    return { ok: true, content: `Dry run: ${name} was not executed.`, metadata: { dryRun: true } };
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  let isOver = false;
  const timer = setTimeout(
    () => ended.abort(new Error(`${name} took longer than ${limitMs / 1000} s`)),
    limitMs,
  );
  try {
    const given = createModuleContext(context, signal, () => isOver);
    // A module that ignores its signal is abandoned.
    const value = await awaitUnlessAborted(async () => execute(structuredClone(input), given), signal);
    return await toResult(name, value, context);
  } catch (error) {
    if (error instanceof ToolError || context.signal.aborted) throw error;
    return { ok: false, content: `${name} failed: ${toMessage(error)}` };
  } finally {
    isOver = true;
    clearTimeout(timer);
    // Stops anything the module left running.
    ended.abort(new Error("the call has ended"));
  }
}

function createModuleContext(
  context: ToolContext,
  signal: AbortSignal,
  isOver: () => boolean,
): ModuleContext {
  const { sessionId, callId, agent, workspace, question } = context;
  return Object.freeze({
    cwd: workspace.root,
    signal,
    sessionId,
    callId,
    agent,
    progress: (text: unknown) => {
      if (!isOver()) context.progress(String(text).slice(0, MAX_PROGRESS));
    },
    ...(question === undefined
      ? {}
      : {
          question: async (asked: UserQuestion) => {
            if (isOver()) return undefined;
            const options = asked.options?.map(String);
            return question({ text: String(asked.text), ...defined({ options }) });
          },
        }),
  });
}

async function toResult(name: string, value: unknown, context: ToolContext): Promise<ToolResult> {
  const { ok, text, metadata } = readResult(name, value);
  const { content, truncated, outputFile } = await capOutput(text, context.keepOutput);
  return {
    ok,
    content,
    metadata: {
      ...defined({ module: metadata }),
      ...(truncated ? { truncated } : {}),
      ...defined({ outputFile }),
    },
  };
}

function readResult(name: string, value: unknown): { ok: boolean; text: string; metadata?: unknown } {
  if (typeof value === "string") return { ok: true, text: value };
  const { ok, content, metadata } = isObject(value) ? value : {};
  if (typeof ok !== "boolean" || typeof content !== "string")
    throw new ToolError(
      "bad_result",
      `${name} returned no valid result: expected { ok: boolean, content: string }`,
    );
  return { ok, text: content, ...(metadata === undefined ? {} : { metadata: toPlainMetadata(metadata) }) };
}

/** It goes into events and transcripts: dropped if it is not JSON or too long. */
function toPlainMetadata(metadata: unknown): unknown {
  try {
    const text = JSON.stringify(metadata);
    return text === undefined || text.length > MAX_METADATA_BYTES ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined; // circular, or a getter that throws
  }
}
