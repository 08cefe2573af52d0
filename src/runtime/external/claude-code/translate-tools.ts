// Tracks the tool calls of one message to Claude Code, from request to result.
import { asObjects } from "../../../base/values.ts";
import type { EventBody, ToolFailure } from "../../events.ts";
import { toPreview } from "../../tools/output.ts";
import type { ExternalDecision } from "../types.ts";
import { toText } from "./fields.ts";

export type ShownPlan = NonNullable<ExternalDecision["shown"]>;

interface Call {
  tool: string;
  input: unknown;
  requestedMs: number;
  isStarted: boolean;
  isDenied: boolean;
}

export const EXECUTOR = "claudecode";

export class ToolCalls {
  readonly #silent: ReadonlySet<string>;
  readonly #now: () => number;
  readonly #open = new Map<string, Call>();
  readonly #seen = new Set<string>();

  constructor(silent: readonly string[], now: () => number) {
    this.#silent = new Set(silent);
    this.#now = now;
  }

  /** Reports each call once, whichever message mentions it first. */
  request(callId: string, tool: string, input: unknown): EventBody[] {
    if (this.#seen.has(callId) || this.#silent.has(tool)) return [];
    this.#seen.add(callId);
    this.#open.set(callId, { tool, input, requestedMs: this.#now(), isStarted: false, isDenied: false });
    return [{ type: "tool.requested", callId, name: tool, input, ...toExecutor(tool) }];
  }

  start(callId: string, shown: ShownPlan): EventBody[] {
    const call = this.#open.get(callId);
    if (call === undefined || call.isStarted) return [];
    call.isStarted = true;
    const { tool: name, input } = call;
    return [{ type: "tool.started", callId, name, input, ...shown, ...toExecutor(name) }];
  }

  deny(callId: string): void {
    const call = this.#open.get(callId);
    if (call !== undefined) call.isDenied = true;
  }

  /** The tool results in a user message from Claude Code. */
  takeResults(content: unknown): EventBody[] {
    return asObjects(content).flatMap(({ type, tool_use_id, is_error, content: output }) => {
      if (type !== "tool_result" || typeof tool_use_id !== "string") return [];
      return this.#end(tool_use_id, joinContent(output), is_error === true);
    });
  }

  endAll(reason: "aborted" | "failed"): EventBody[] {
    return [...this.#open.keys()].flatMap((callId) =>
      this.#end(
        callId,
        reason === "aborted" ? "Not finished: the turn was aborted." : "Not finished: there was no result.",
        true,
        reason,
      ),
    );
  }

  #end(callId: string, content: string, isError: boolean, why?: ToolFailure): EventBody[] {
    const call = this.#open.get(callId);
    if (call === undefined) return [];
    this.#open.delete(callId);
    const { tool: name, requestedMs } = call;
    const common = {
      callId,
      name,
      preview: toPreview(content),
      content,
      durationMs: this.#now() - requestedMs,
      ...toExecutor(name),
    };
    if (!isError) {
      // A call without a permission request.
      const started = this.#lateStart(callId, call);
      return [...started, { type: "tool.completed", ok: true, ...common }];
    }
    const reason = why ?? (call.isDenied ? "denied" : classifyFailure(content, call));
    return [{ type: "tool.failed", ok: false, reason, ...common }];
  }

  #lateStart(callId: string, { isStarted, tool: name, input }: Call): EventBody[] {
    if (isStarted) return [];
    return [{ type: "tool.started", callId, name, input, title: name, ...toExecutor(name) }];
  }
}

/** Matches messages of Claude Code 2.1.197. */
function classifyFailure(content: string, { isStarted }: Call): ToolFailure {
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

function toExecutor(tool: string) {
  return { executor: EXECUTOR, qualifiedName: `${EXECUTOR}.${tool}` };
}

function joinContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { type?: unknown; text?: unknown }) =>
      part?.type === "text" ? toText(part.text) : `[${toText(part?.type ?? "unknown")}]`,
    )
    .join("\n");
}
