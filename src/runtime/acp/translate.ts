// Runtime events as ACP session updates. Pure but for ids; one translator a session, because a tool call is told in
// several updates and must be closed whatever happens.
import type { SessionUpdate, ToolCallContent, ToolCallStatus } from "@agentclientprotocol/sdk";
import type { RuntimeEvent } from "../events.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { ToolResultMetadata } from "../tools/types.ts";
import type { FileChange } from "../workspace/types.ts";
import { diffsOf, locationsOf, newCall, oneLine, shownInput, textContent } from "./tool-view.ts";
import { Halves } from "./well-formed.ts";

/** Output is replaced with each update, so only its end is told while it grows. */
const LIVE_CHARS = 8192;

interface OpenTool {
  wireId: string;
  changes: readonly FileChange[];
  output: string;
  isOutputNew: boolean;
}

type Of<Type extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { type: Type }>;

/** Told as `_demian/event`: ACP has no word for them. */
const EXTRA: ReadonlySet<RuntimeEvent["type"]> = new Set([
  "provider.retry",
  "context.compacted",
  "hook.fired",
  "hook.failed",
  "model.content_filter",
  "model.failed",
  "model.usage",
  "permission.granted",
  "permission.denied",
  "turn.ended",
  "warning",
]);

export function isExtra(event: RuntimeEvent): boolean {
  return EXTRA.has(event.type);
}

export interface TranslatorOrder {
  /** As the client wrote it. */
  cwd: string;
  tools: ToolRegistry;
  newId(): string;
}

export class Translator {
  readonly #cwd: string;
  readonly #tools: ToolRegistry;
  readonly #newId: () => string;
  readonly #text = new Halves();
  readonly #thought = new Halves();
  readonly #open = new Map<string, OpenTool>();
  /** Some models call every first tool "call_0"; a client needs names that do not come again. */
  readonly #usedIds = new Set<string>();
  #messageId: string;
  #hasText = false;
  #contextSize: number | undefined;

  constructor({ cwd, tools, newId }: TranslatorOrder) {
    this.#cwd = cwd;
    this.#tools = tools;
    this.#newId = newId;
    this.#messageId = newId();
  }

  translate(event: RuntimeEvent): SessionUpdate[] {
    switch (event.type) {
      case "model.request":
      case "provider.retry":
        // What comes now begins from the start again: a client must not glue it to what it has.
        this.#messageId = this.#newId();
        this.#hasText = false;
        this.#text.clear();
        this.#thought.clear();
        return [];
      case "model.text.delta":
        this.#hasText = true;
        return this.#chunk("agent_message_chunk", this.#text.push(event.text), this.#messageId);
      case "model.reasoning.delta":
        return this.#chunk(
          "agent_thought_chunk",
          this.#thought.push(event.text),
          `${this.#messageId}-thought`,
        );
      case "model.text":
        // Without streaming there were no deltas.
        return this.#hasText ? [] : this.#chunk("agent_message_chunk", event.text, this.#messageId);
      case "context.compiled":
        this.#contextSize = event.limitTokens;
        return [{ sessionUpdate: "usage_update", used: event.estimatedTokens, size: event.limitTokens }];
      case "context.compacted":
        return this.#contextSize === undefined
          ? []
          : [{ sessionUpdate: "usage_update", used: event.afterTokens, size: this.#contextSize }];
      case "tool.requested":
        return this.#requested(event);
      case "tool.started":
        return this.#started(event);
      case "tool.output":
        return this.#output(event);
      case "tool.completed":
        return this.#ended(event, "completed");
      case "tool.failed":
        return this.#ended(event, "failed");
      default:
        return [];
    }
  }

  /** The name of a call on the wire. */
  wireId(callId: string): string {
    return this.#open.get(callId)?.wireId ?? callId;
  }

  /** A name on the wire that no call had before, nor one of the replay. */
  reserve(id: string): string {
    let wireId = id;
    for (let n = 2; this.#usedIds.has(wireId); n += 1) wireId = `${id}~${n}`;
    this.#usedIds.add(wireId);
    return wireId;
  }

  /** What running tools have written since the last time. */
  liveOutput(): SessionUpdate[] {
    return [...this.#open.values()].flatMap((tool): SessionUpdate[] => {
      if (!tool.isOutputNew) return [];
      tool.isOutputNew = false;
      const content = [...diffsOf(this.#cwd, tool.changes), textContent(tool.output)];
      return [{ sessionUpdate: "tool_call_update", toolCallId: tool.wireId, status: "in_progress", content }];
    });
  }

  /** At the end of a turn: no tool stays open, whatever the loop has told. */
  closeOpen(reason: string): SessionUpdate[] {
    const updates = [...this.#open.values()].map(
      (tool): SessionUpdate => ({
        sessionUpdate: "tool_call_update",
        toolCallId: tool.wireId,
        status: "failed",
        content: [...diffsOf(this.#cwd, tool.changes), textContent(reason)],
      }),
    );
    this.#open.clear();
    return updates;
  }

  #chunk(
    sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
    text: string,
    messageId: string,
  ): SessionUpdate[] {
    return text === "" ? [] : [{ sessionUpdate, content: { type: "text", text }, messageId }];
  }

  #requested({ callId, name, input }: Of<"tool.requested">): SessionUpdate[] {
    const wireId = this.reserve(callId);
    this.#open.set(callId, { wireId, changes: [], output: "", isOutputNew: false });
    return [newCall(wireId, { name, input }, { cwd: this.#cwd, tools: this.#tools })];
  }

  #started(event: Of<"tool.started">): SessionUpdate[] {
    const before = this.#open.has(event.callId) ? [] : this.#requested({ ...event, type: "tool.requested" });
    const tool = this.#open.get(event.callId);
    if (tool === undefined) return before;
    tool.changes = event.changes ?? [];
    const diffs = diffsOf(this.#cwd, tool.changes);
    return [
      ...before,
      {
        sessionUpdate: "tool_call_update",
        toolCallId: tool.wireId,
        status: "in_progress",
        title: oneLine(event.title),
        rawInput: shownInput(event.input),
        locations: locationsOf(this.#cwd, event.input, tool.changes),
        ...(diffs.length > 0 && { content: diffs }),
        ...(event.sandbox !== undefined && { _meta: { demian: { sandbox: event.sandbox } } }),
      },
    ];
  }

  #output({ callId, text }: Of<"tool.output">): SessionUpdate[] {
    const tool = this.#open.get(callId);
    if (tool === undefined) return [];
    const output = tool.output + text;
    tool.output =
      output.length <= LIVE_CHARS ? output : output.slice(-LIVE_CHARS).replace(/^[\udc00-\udfff]/, "");
    tool.isOutputNew = true;
    return [];
  }

  #ended(event: Of<"tool.completed"> | Of<"tool.failed">, status: ToolCallStatus): SessionUpdate[] {
    const tool = this.#open.get(event.callId);
    if (tool === undefined) return [];
    this.#open.delete(event.callId);
    const changes = event.ok ? (event.metadata?.changes ?? tool.changes) : tool.changes;
    const content: ToolCallContent[] = [...diffsOf(this.#cwd, changes), textContent(event.content)];
    return [
      {
        sessionUpdate: "tool_call_update",
        toolCallId: tool.wireId,
        status,
        content,
        ...rawOutput(event.metadata),
        _meta: {
          demian: { durationMs: event.durationMs, ...(event.ok ? {} : { reason: event.reason }) },
        },
      },
    ];
  }
}

function rawOutput(metadata: ToolResultMetadata | undefined): { rawOutput?: unknown } {
  if (metadata === undefined) return {};
  const { changes: _changes, ...rest } = metadata;
  return Object.keys(rest).length === 0 ? {} : { rawOutput: rest };
}
