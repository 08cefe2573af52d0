// Translates runtime events to ACP updates. Pure except for ids. One translator per session, because a tool call takes
// several updates and must always be closed.

import type { SessionUpdate, ToolCallContent, ToolCallStatus } from "@agentclientprotocol/sdk";
import { defined } from "../../base/values.ts";
import { DELEGATE_TOOL } from "../delegation/types.ts";
import type { RuntimeEvent } from "../events.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { ToolResultMetadata } from "../tools/types.ts";
import type { FileChange } from "../workspace/types.ts";
import { ChildTexts, isFromSubAgent, type Piece } from "./children.ts";
import { EVENT } from "./extensions.ts";
import type { Outgoing } from "./outbound.ts";
import { Speech } from "./speech.ts";
import {
  createCall,
  findLocations,
  limitInput,
  readChanges,
  toDiffs,
  toTextContent,
  toTitleLine,
} from "./tool-view.ts";

/** Each update replaces the output, so only its end is sent while the tool runs. */
const LIVE_CHARS = 8192;

interface OpenTool {
  wireId: string;
  /** `_meta.demian` of each update: the sub-agent, if any, and details. */
  meta: Record<string, unknown>;
  changes: readonly FileChange[];
  output: string;
  isOutputNew: boolean;
}

type Of<Type extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { type: Type }>;

/** Sent as `_demian/event`; ACP has no equivalent. */
const EXTENSION_EVENTS: ReadonlySet<RuntimeEvent["type"]> = new Set([
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
  "agent.invocation.requested",
  "agent.invocation.started",
  "agent.invocation.tool_policy.applied",
  "agent.invocation.completed",
  "agent.invocation.failed",
  "agent.invocation.cancelled",
  "agent.session.context_compacted",
  "agent.session.memory_updated",
  "session.context.split",
]);

/** Sub-agents' events of these types are translated like the main agent's. */
const FROM_ANY_AGENT: ReadonlySet<RuntimeEvent["type"]> = new Set([
  "tool.requested",
  "tool.started",
  "tool.output",
  "tool.completed",
  "tool.failed",
  "model.usage",
]);

export interface TranslatorOptions {
  /** As sent by the client. */
  cwd: string;
  tools: ToolRegistry;
  newId(): string;
  /** Earlier cost of the session. */
  costUsd?: number | undefined;
}

export class Translator {
  readonly #cwd: string;
  readonly #tools: ToolRegistry;
  readonly #speech: Speech;
  readonly #open = new Map<string, OpenTool>();
  /** Some models reuse ids such as "call_0"; clients need unique ones. */
  readonly #usedIds = new Set<string>();
  /** The latest wire id of each call. */
  readonly #wireIds = new Map<string, string>();
  readonly #children: ChildTexts;
  #context = { used: 0, size: 0 };
  #costUsd: number | undefined;

  constructor({ cwd, tools, newId, costUsd }: TranslatorOptions) {
    this.#cwd = cwd;
    this.#tools = tools;
    this.#speech = new Speech(newId);
    this.#children = new ChildTexts(newId);
    this.#costUsd = costUsd;
  }

  /** Total of the session and its sub-agents; undefined if no provider reports it. */
  get costUsd(): number | undefined {
    return this.#costUsd;
  }

  /** `live` has something to send. */
  get isWaiting(): boolean {
    return this.#children.isWaiting || [...this.#open.values()].some(({ isOutputNew }) => isOutputNew);
  }

  translate(event: RuntimeEvent): Outgoing[] {
    const isChild = isFromSubAgent(event);
    const said = isChild ? this.#children.hear(event) : this.#children.flush();
    const updates = isChild && !FROM_ANY_AGENT.has(event.type) ? [] : this.#toUpdates(event);
    if (isChild) this.#summarize(event);
    return [
      ...said.map((piece) => this.#toTextEvent(piece)),
      ...updates.map(toOutgoing),
      ...(EXTENSION_EVENTS.has(event.type) ? [this.#toExtension(event)] : []),
    ];
  }

  #toUpdates(event: RuntimeEvent): SessionUpdate[] {
    switch (event.type) {
      case "model.request":
      case "provider.retry":
      case "turn.ended":
        this.#speech.restart();
        return [];
      case "model.text.delta": {
        const { messageId } = this.#speech;
        return this.#toChunk("agent_message_chunk", this.#speech.say(event.text), messageId);
      }
      case "model.reasoning.delta":
        return this.#toChunk("agent_thought_chunk", this.#speech.think(event.text), this.#speech.thoughtId);
      case "model.text": {
        const { text, messageId } = this.#speech.end(event.text, event.final);
        return this.#toChunk("agent_message_chunk", text, messageId);
      }
      case "context.compiled":
        this.#context = { used: event.estimatedTokens, size: event.limitTokens };
        return [this.#toUsage()];
      case "context.compacted":
        if (this.#context.size === 0) return [];
        this.#context.used = event.afterTokens;
        return [this.#toUsage()];
      case "model.usage":
        if (event.costUsd === undefined) return [];
        this.#costUsd = (this.#costUsd ?? 0) + event.costUsd;
        return [this.#toUsage()];
      case "plan.updated":
        return [toPlan(event)];
      case "tool.requested":
        return this.#startCall(event);
      case "tool.started":
        return this.#updateCall(event);
      case "tool.output":
        return this.#output(event);
      case "tool.completed":
        return this.#endCall(event, "completed");
      case "tool.failed":
        return this.#endCall(event, "failed");
      default:
        return [];
    }
  }

  /** The call's id on the wire. */
  wireId(callId: string): string {
    return this.#wireIds.get(callId) ?? callId;
  }

  /** The wire id of the call that started the sub-agent of this open call. */
  findParent(callId: string): string | undefined {
    const parent = this.#open.get(callId)?.meta["parentToolCallId"];
    return typeof parent === "string" ? parent : undefined;
  }

  /** Returns an unused wire id. */
  reserve(id: string): string {
    let wireId = id;
    for (let n = 2; this.#usedIds.has(wireId); n += 1) wireId = `${id}~${n}`;
    this.#usedIds.add(wireId);
    return wireId;
  }

  /** New output of running tools and text of sub-agents. */
  live(): Outgoing[] {
    const said = this.#children.flush().map((piece) => this.#toTextEvent(piece));
    const written = [...this.#open.values()].flatMap((tool): SessionUpdate[] => {
      if (!tool.isOutputNew) return [];
      tool.isOutputNew = false;
      const content = [...toDiffs(this.#cwd, tool.changes), toTextContent(tool.output)];
      return [this.#toCallUpdate(tool, { status: "in_progress", content })];
    });
    return [...said, ...written.map(toOutgoing)];
  }

  /** At the end of a turn: ends all open calls. */
  closeOpen(reason: string): Outgoing[] {
    const said = this.#children.flush().map((piece) => this.#toTextEvent(piece));
    // A sub-agent's calls come after the call that started it, and end before it.
    const updates = [...this.#open.values()].reverse().map((tool): SessionUpdate => {
      const content = [...toDiffs(this.#cwd, tool.changes), toTextContent(reason)];
      return this.#toCallUpdate(tool, { status: "failed", content });
    });
    this.#open.clear();
    return [...said, ...updates.map(toOutgoing)];
  }

  /** The acting sub-agent, for `_meta.demian`. Empty for the main agent. */
  #describeAgent(event: RuntimeEvent): Record<string, unknown> {
    if (!isFromSubAgent(event)) return {};
    const { agentPath, invocationId, parentCallId } = event;
    return {
      ...(parentCallId !== undefined && { parentToolCallId: this.wireId(parentCallId) }),
      ...defined({ agentPath, invocationId }),
    };
  }

  /** The event, with the wire ids of its calls. */
  #toExtension(event: RuntimeEvent): Outgoing {
    const { parentToolCallId } = this.#describeAgent(event);
    const callId = "callId" in event ? event.callId : undefined;
    const params = {
      event,
      ...(callId !== undefined && { toolCallId: this.wireId(callId) }),
      ...(parentToolCallId !== undefined && { parentToolCallId }),
    };
    return { method: EVENT, params };
  }

  #toTextEvent({ event, messageId }: Piece): Outgoing {
    const { parentToolCallId } = this.#describeAgent(event);
    const params = { event, messageId, ...(parentToolCallId !== undefined && { parentToolCallId }) };
    return { method: EVENT, params };
  }

  /** For clients without sub-agent support: a line per step, as output of the call that started the sub-agent. */
  #summarize(event: RuntimeEvent): void {
    const what =
      event.type === "tool.started"
        ? event.title
        : event.type === "model.text" && !event.final
          ? event.text
          : "";
    const { parentCallId, agentPath = [event.agent] } = event;
    if (what.trim() === "" || parentCallId === undefined) return;
    this.#addOutput(parentCallId, `${agentPath.join(" › ")}: ${toTitleLine(what)}\n`);
  }

  #toUsage(): SessionUpdate {
    const cost = this.#costUsd;
    return {
      sessionUpdate: "usage_update",
      ...this.#context,
      // Rounded, because 0.1 + 0.2 is 0.30000000000000004.
      ...(cost !== undefined && { cost: { amount: Number(cost.toFixed(9)), currency: "USD" } }),
    };
  }

  #toCallUpdate(tool: OpenTool, fields: object): SessionUpdate {
    const meta = Object.keys(tool.meta).length === 0 ? {} : { _meta: { demian: { ...tool.meta } } };
    return { sessionUpdate: "tool_call_update", toolCallId: tool.wireId, ...fields, ...meta };
  }

  #toChunk(
    sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
    text: string,
    messageId: string,
  ): SessionUpdate[] {
    return text === "" ? [] : [{ sessionUpdate, content: { type: "text", text }, messageId }];
  }

  #startCall(event: Of<"tool.requested">): SessionUpdate[] {
    const { callId, name, input, executor } = event;
    const wireId = this.reserve(callId);
    this.#wireIds.set(callId, wireId);
    const meta = { ...this.#describeAgent(event), ...(executor !== undefined && { executor }) };
    this.#open.set(callId, { wireId, meta, changes: [], output: "", isOutputNew: false });
    const call = createCall(wireId, { name, input, executor }, { cwd: this.#cwd, tools: this.#tools });
    return [{ ...call, ...(Object.keys(meta).length > 0 && { _meta: { demian: meta } }) }];
  }

  #updateCall(event: Of<"tool.started">): SessionUpdate[] {
    const before = this.#open.has(event.callId) ? [] : this.#startCall({ ...event, type: "tool.requested" });
    const tool = this.#open.get(event.callId);
    if (tool === undefined) return before;
    const { input, executor, name } = event;
    tool.changes = event.changes ?? readChanges({ input, executor, name });
    if (event.sandbox !== undefined) tool.meta["sandbox"] = event.sandbox;
    const diffs = toDiffs(this.#cwd, tool.changes);
    const step = this.#toCallUpdate(tool, {
      status: "in_progress",
      title: toTitleLine(event.title),
      // The permission request for a delegation showed more than its input.
      ...(name !== DELEGATE_TOOL && { rawInput: limitInput(input) }),
      locations: findLocations(this.#cwd, input, tool.changes),
      ...(diffs.length > 0 && { content: diffs }),
    });
    return [...before, step];
  }

  #output({ callId, text }: Of<"tool.output">): SessionUpdate[] {
    this.#addOutput(callId, text);
    return [];
  }

  #addOutput(callId: string, text: string): void {
    const tool = this.#open.get(callId);
    if (tool === undefined) return;
    const output = tool.output + text;
    tool.output =
      output.length <= LIVE_CHARS ? output : output.slice(-LIVE_CHARS).replace(/^[\udc00-\udfff]/, "");
    tool.isOutputNew = true;
  }

  #endCall(event: Of<"tool.completed"> | Of<"tool.failed">, status: ToolCallStatus): SessionUpdate[] {
    const tool = this.#open.get(event.callId);
    if (tool === undefined) return [];
    this.#open.delete(event.callId);
    const changes = event.ok ? (event.metadata?.changes ?? tool.changes) : tool.changes;
    const content: ToolCallContent[] = [...toDiffs(this.#cwd, changes), toTextContent(event.content)];
    tool.meta = { ...tool.meta, durationMs: event.durationMs, ...(event.ok ? {} : { reason: event.reason }) };
    return [this.#toCallUpdate(tool, { status, content, ...rawOutput(event.metadata) })];
  }
}

function toPlan({ steps }: Of<"plan.updated">): SessionUpdate {
  const entries = steps.map(({ text, status }) => ({ content: text, status, priority: "medium" as const }));
  return { sessionUpdate: "plan", entries };
}

function toOutgoing(update: SessionUpdate): Outgoing {
  return { method: "session/update", update };
}

function rawOutput(metadata: ToolResultMetadata | undefined): { rawOutput?: unknown } {
  if (metadata === undefined) return {};
  const { changes: _changes, ...rest } = metadata;
  return Object.keys(rest).length === 0 ? {} : { rawOutput: rest };
}
