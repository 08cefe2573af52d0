// The tool calls of one message to Claude Code, from what its model wants to what came of it.
import type { EventBody, ToolFailure } from "../../events.ts";
import type { ExternalDecision } from "../types.ts";
import { wordsOf } from "./fields.ts";

export type Shown = NonNullable<ExternalDecision["shown"]>;

interface Call {
  tool: string;
  input: unknown;
  requestedMs: number;
  isStarted: boolean;
  isDenied: boolean;
}

export const EXECUTOR = "claudecode";
const PREVIEW_CHARACTERS = 200;

export class ToolCalls {
  readonly #silent: ReadonlySet<string>;
  readonly #now: () => number;
  readonly #open = new Map<string, Call>();
  readonly #seen = new Set<string>();

  constructor(silent: readonly string[], now: () => number) {
    this.#silent = new Set(silent);
    this.#now = now;
  }

  /** Once for each call, whoever tells it first. */
  requested(callId: string, tool: string, input: unknown): EventBody[] {
    if (this.#seen.has(callId) || this.#silent.has(tool)) return [];
    this.#seen.add(callId);
    this.#open.set(callId, { tool, input, requestedMs: this.#now(), isStarted: false, isDenied: false });
    return [{ type: "tool.requested", callId, name: tool, input, ...executed(tool) }];
  }

  started(callId: string, shown: Shown): EventBody[] {
    const call = this.#open.get(callId);
    if (call === undefined || call.isStarted) return [];
    call.isStarted = true;
    const { tool: name, input } = call;
    return [{ type: "tool.started", callId, name, input, ...shown, ...executed(name) }];
  }

  denied(callId: string): void {
    const call = this.#open.get(callId);
    if (call !== undefined) call.isDenied = true;
  }

  /** Of a user message that Claude Code wrote: the results in it. */
  results(content: unknown): EventBody[] {
    if (!Array.isArray(content)) return [];
    return content.flatMap(
      (block: { type?: unknown; tool_use_id?: unknown; is_error?: unknown; content?: unknown }) => {
        if (block?.type !== "tool_result" || typeof block.tool_use_id !== "string") return [];
        return this.#ended(block.tool_use_id, textOf(block.content), block.is_error === true);
      },
    );
  }

  unfinished(reason: "aborted" | "failed"): EventBody[] {
    return [...this.#open.keys()].flatMap((callId) =>
      this.#ended(
        callId,
        reason === "aborted" ? "Not finished: the turn was aborted." : "It never ended.",
        true,
        reason,
      ),
    );
  }

  #ended(callId: string, content: string, isError: boolean, why?: ToolFailure): EventBody[] {
    const call = this.#open.get(callId);
    if (call === undefined) return [];
    this.#open.delete(callId);
    const { tool: name, requestedMs } = call;
    const told = {
      callId,
      name,
      preview: previewOf(content),
      content,
      durationMs: this.#now() - requestedMs,
      ...executed(name),
    };
    if (!isError) {
      // One that it did not ask for.
      const started = this.#lateStart(callId, call);
      return [...started, { type: "tool.completed", ok: true, ...told }];
    }
    const reason = why ?? (call.isDenied ? "denied" : failureOf(content, call));
    return [{ type: "tool.failed", ok: false, reason, ...told }];
  }

  #lateStart(callId: string, { isStarted, tool: name, input }: Call): EventBody[] {
    if (isStarted) return [];
    return [{ type: "tool.started", callId, name, input, title: name, ...executed(name) }];
  }
}

/** As Claude Code 2.1.197 words it. */
function failureOf(content: string, { isStarted }: Call): ToolFailure {
  if (
    content.includes("[Request interrupted by user") ||
    content.startsWith("The user doesn't want to proceed")
  )
    return "aborted";
  if (isStarted) return "failed";
  if (content.includes("No such tool available")) return "unknown_tool";
  if (content.includes("InputValidationError")) return "invalid_input";
  return /denied by your permission settings|has been denied/.test(content) ? "denied" : "failed";
}

function executed(tool: string) {
  return { executor: EXECUTOR, qualifiedName: `${EXECUTOR}.${tool}` };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { type?: unknown; text?: unknown }) =>
      part?.type === "text" ? wordsOf(part.text) : `[${wordsOf(part?.type ?? "unknown")}]`,
    )
    .join("\n");
}

function previewOf(content: string): string {
  return content.length <= PREVIEW_CHARACTERS ? content : `${content.slice(0, PREVIEW_CHARACTERS)}…`;
}
