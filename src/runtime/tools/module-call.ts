// One call of a tool module: what it is given is little, and whatever it does (throw, hang, give back nonsense) is an answer.
import { messageOf } from "../../base/coded-error.ts";
import { isObject } from "../../base/json.ts";
import { capOutput } from "./output.ts";
import { type ToolContext, ToolError, type ToolResult, type UserQuestion } from "./types.ts";

/** What a module sees of demian. No permissions, no other agents, no workspace: it is a tool, not an authority. */
export interface ModuleContext {
  /** The workspace, absolute. */
  cwd: string;
  /** Aborted when the turn is, or when the call took too long. */
  signal: AbortSignal;
  sessionId: string;
  callId: string;
  agent: string;
  /** Shown while it runs. */
  progress(text: string): void;
  /** Only where a person can be asked. Undefined: nobody answered. */
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
  // Also for one that says that it changes nothing: nobody can know.
  if (context.dryRun)
    return { ok: true, content: `Dry run: ${name} was not carried out.`, metadata: { dryRun: true } };
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  let isOver = false;
  const timer = setTimeout(
    () => ended.abort(new Error(`${name} took longer than ${limitMs / 1000} s`)),
    limitMs,
  );
  try {
    const given = moduleContext(context, signal, () => isOver);
    const value = await untilAborted(signal, async () => execute(structuredClone(input), given));
    return await resultOf(name, value, context);
  } catch (error) {
    if (error instanceof ToolError || context.signal.aborted) throw error;
    return { ok: false, content: `${name} failed: ${messageOf(error)}` };
  } finally {
    isOver = true;
    clearTimeout(timer);
    // Whatever it left running is told to end.
    ended.abort(new Error("the call has ended"));
  }
}

function moduleContext(context: ToolContext, signal: AbortSignal, isOver: () => boolean): ModuleContext {
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
            return question({ text: String(asked.text), ...(options === undefined ? {} : { options }) });
          },
        }),
  });
}

/** A module that does not look at its signal is left behind. */
function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", onAbort));
  });
}

async function resultOf(name: string, value: unknown, context: ToolContext): Promise<ToolResult> {
  const { ok, text, metadata } = readResult(name, value);
  const { content, truncated, outputFile } = await capOutput(text, context.keepOutput);
  return {
    ok,
    content,
    metadata: {
      ...(metadata === undefined ? {} : { module: metadata }),
      ...(truncated ? { truncated } : {}),
      ...(outputFile === undefined ? {} : { outputFile }),
    },
  };
}

function readResult(name: string, value: unknown): { ok: boolean; text: string; metadata?: unknown } {
  if (typeof value === "string") return { ok: true, text: value };
  const { ok, content, metadata } = isObject(value) ? value : {};
  if (typeof ok !== "boolean" || typeof content !== "string")
    throw new ToolError(
      "bad_result",
      `${name} gave back no result: expected { ok: true or false, content: a text }`,
    );
  return { ok, text: content, ...(metadata === undefined ? {} : { metadata: plain(metadata) }) };
}

/** It goes into events and transcripts: what is no JSON, or too long, is left out. */
function plain(metadata: unknown): unknown {
  try {
    const text = JSON.stringify(metadata);
    return text === undefined || text.length > MAX_METADATA_BYTES ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined; // circular, or a getter that throws
  }
}
