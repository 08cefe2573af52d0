// Runtime events as what an ACP client is told. Pure but for ids; one translator a session, because a tool call is told
// in several updates and must be closed whatever happens.
import type { SessionUpdate, ToolCallContent, ToolCallStatus } from "@agentclientprotocol/sdk";
import { DELEGATE_TOOL } from "../delegation/types.ts";
import type { RuntimeEvent } from "../events.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { ToolResultMetadata } from "../tools/types.ts";
import type { FileChange } from "../workspace/types.ts";
import { EVENT } from "./announced.ts";
import { ChildTexts, isOfChild, type Piece } from "./children.ts";
import type { Outgoing } from "./outbound.ts";
import { Speech } from "./speech.ts";
import { changesOf, diffsOf, locationsOf, newCall, oneLine, shownInput, textContent } from "./tool-view.ts";

/** Output is replaced with each update, so only its end is told while it grows. */
const LIVE_CHARS = 8192;

interface OpenTool {
  wireId: string;
  /** Who does it, where it is not the session's own agent; and what else is told of it each time. */
  meta: Record<string, unknown>;
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

/** Of a sub-agent these are told as of the main agent. */
const OF_ANYONE: ReadonlySet<RuntimeEvent["type"]> = new Set([
  "tool.requested",
  "tool.started",
  "tool.output",
  "tool.completed",
  "tool.failed",
  "model.usage",
]);

export interface TranslatorOrder {
  /** As the client wrote it. */
  cwd: string;
  tools: ToolRegistry;
  newId(): string;
  /** What the session has cost before. */
  costUsd?: number | undefined;
}

export class Translator {
  readonly #cwd: string;
  readonly #tools: ToolRegistry;
  readonly #speech: Speech;
  readonly #open = new Map<string, OpenTool>();
  /** Some models call every first tool "call_0"; a client needs names that do not come again. */
  readonly #usedIds = new Set<string>();
  /** The last name on the wire of each call. */
  readonly #wireIds = new Map<string, string>();
  readonly #children: ChildTexts;
  #context = { used: 0, size: 0 };
  #costUsd: number | undefined;

  constructor({ cwd, tools, newId, costUsd }: TranslatorOrder) {
    this.#cwd = cwd;
    this.#tools = tools;
    this.#speech = new Speech(newId);
    this.#children = new ChildTexts(newId);
    this.#costUsd = costUsd;
  }

  /** Of the whole session, with its sub-agents; undefined: nobody told a price. */
  get costUsd(): number | undefined {
    return this.#costUsd;
  }

  /** Something is to be told soon, and not with the next event only: `live` gives it. */
  get isWaiting(): boolean {
    return this.#children.isWaiting || [...this.#open.values()].some(({ isOutputNew }) => isOutputNew);
  }

  translate(event: RuntimeEvent): Outgoing[] {
    const isChild = isOfChild(event);
    const said = isChild ? this.#children.hear(event) : this.#children.flush();
    const updates = isChild && !OF_ANYONE.has(event.type) ? [] : this.#updates(event);
    if (isChild) this.#summarize(event);
    return [
      ...said.map((piece) => this.#piece(piece)),
      ...updates.map(toOutgoing),
      ...(EXTRA.has(event.type) ? [this.#extra(event)] : []),
    ];
  }

  #updates(event: RuntimeEvent): SessionUpdate[] {
    switch (event.type) {
      case "model.request":
      case "provider.retry":
      case "turn.ended":
        this.#speech.restart();
        return [];
      case "model.text.delta": {
        const { messageId } = this.#speech;
        return this.#chunk("agent_message_chunk", this.#speech.say(event.text), messageId);
      }
      case "model.reasoning.delta":
        return this.#chunk("agent_thought_chunk", this.#speech.think(event.text), this.#speech.thoughtId);
      case "model.text": {
        const { text, messageId } = this.#speech.end(event.text, event.final);
        return this.#chunk("agent_message_chunk", text, messageId);
      }
      case "context.compiled":
        this.#context = { used: event.estimatedTokens, size: event.limitTokens };
        return [this.#usage()];
      case "context.compacted":
        if (this.#context.size === 0) return [];
        this.#context.used = event.afterTokens;
        return [this.#usage()];
      case "model.usage":
        if (event.costUsd === undefined) return [];
        this.#costUsd = (this.#costUsd ?? 0) + event.costUsd;
        return [this.#usage()];
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
    return this.#wireIds.get(callId) ?? callId;
  }

  /** The call that started the sub-agent which made this open one, as it is called on the wire. */
  parentOf(callId: string): string | undefined {
    const parent = this.#open.get(callId)?.meta["parentToolCallId"];
    return typeof parent === "string" ? parent : undefined;
  }

  /** A name on the wire that no call had before, nor one of the replay. */
  reserve(id: string): string {
    let wireId = id;
    for (let n = 2; this.#usedIds.has(wireId); n += 1) wireId = `${id}~${n}`;
    this.#usedIds.add(wireId);
    return wireId;
  }

  /** What running tools have written and sub-agents have said since the last time. */
  live(): Outgoing[] {
    const said = this.#children.flush().map((piece) => this.#piece(piece));
    const written = [...this.#open.values()].flatMap((tool): SessionUpdate[] => {
      if (!tool.isOutputNew) return [];
      tool.isOutputNew = false;
      const content = [...diffsOf(this.#cwd, tool.changes), textContent(tool.output)];
      return [this.#step(tool, { status: "in_progress", content })];
    });
    return [...said, ...written.map(toOutgoing)];
  }

  /** At the end of a turn: no tool stays open, whatever the loop has told. */
  closeOpen(reason: string): Outgoing[] {
    const said = this.#children.flush().map((piece) => this.#piece(piece));
    // What a sub-agent began stands behind the call that started it, and ends before it.
    const updates = [...this.#open.values()].reverse().map((tool): SessionUpdate => {
      const content = [...diffsOf(this.#cwd, tool.changes), textContent(reason)];
      return this.#step(tool, { status: "failed", content });
    });
    this.#open.clear();
    return [...said, ...updates.map(toOutgoing)];
  }

  /** Who does what this event tells: for `_meta.demian` of what is told of it. Empty for the main agent. */
  #who(event: RuntimeEvent): Record<string, unknown> {
    if (!isOfChild(event)) return {};
    const { agentPath, invocationId, parentCallId } = event;
    return {
      ...(parentCallId !== undefined && { parentToolCallId: this.wireId(parentCallId) }),
      ...(agentPath !== undefined && { agentPath }),
      ...(invocationId !== undefined && { invocationId }),
    };
  }

  /** Beside the event stand the names that its calls have on the wire. */
  #extra(event: RuntimeEvent): Outgoing {
    const { parentToolCallId } = this.#who(event);
    const callId = "callId" in event ? event.callId : undefined;
    const params = {
      event,
      ...(callId !== undefined && { toolCallId: this.wireId(callId) }),
      ...(parentToolCallId !== undefined && { parentToolCallId }),
    };
    return { method: EVENT, params };
  }

  #piece({ event, messageId }: Piece): Outgoing {
    const { parentToolCallId } = this.#who(event);
    const params = { event, messageId, ...(parentToolCallId !== undefined && { parentToolCallId }) };
    return { method: EVENT, params };
  }

  /** For clients that know nothing of sub-agents: a line for each step, as the output of the call that started it. */
  #summarize(event: RuntimeEvent): void {
    const what =
      event.type === "tool.started"
        ? event.title
        : event.type === "model.text" && !event.final
          ? event.text
          : "";
    const { parentCallId, agentPath = [event.agent] } = event;
    if (what.trim() === "" || parentCallId === undefined) return;
    this.#addOutput(parentCallId, `${agentPath.join(" › ")}: ${oneLine(what)}\n`);
  }

  #usage(): SessionUpdate {
    const cost = this.#costUsd;
    return {
      sessionUpdate: "usage_update",
      ...this.#context,
      // Money in floating point: without this 0.1 + 0.2 is 0.30000000000000004.
      ...(cost !== undefined && { cost: { amount: Number(cost.toFixed(9)), currency: "USD" } }),
    };
  }

  #step(tool: OpenTool, news: object): SessionUpdate {
    const meta = Object.keys(tool.meta).length === 0 ? {} : { _meta: { demian: { ...tool.meta } } };
    return { sessionUpdate: "tool_call_update", toolCallId: tool.wireId, ...news, ...meta };
  }

  #chunk(
    sessionUpdate: "agent_message_chunk" | "agent_thought_chunk",
    text: string,
    messageId: string,
  ): SessionUpdate[] {
    return text === "" ? [] : [{ sessionUpdate, content: { type: "text", text }, messageId }];
  }

  #requested(event: Of<"tool.requested">): SessionUpdate[] {
    const { callId, name, input, executor } = event;
    const wireId = this.reserve(callId);
    this.#wireIds.set(callId, wireId);
    const meta = { ...this.#who(event), ...(executor !== undefined && { executor }) };
    this.#open.set(callId, { wireId, meta, changes: [], output: "", isOutputNew: false });
    const call = newCall(wireId, { name, input, executor }, { cwd: this.#cwd, tools: this.#tools });
    return [{ ...call, ...(Object.keys(meta).length > 0 && { _meta: { demian: meta } }) }];
  }

  #started(event: Of<"tool.started">): SessionUpdate[] {
    const before = this.#open.has(event.callId) ? [] : this.#requested({ ...event, type: "tool.requested" });
    const tool = this.#open.get(event.callId);
    if (tool === undefined) return before;
    const { input, executor, name } = event;
    tool.changes = event.changes ?? changesOf({ input, executor, name });
    if (event.sandbox !== undefined) tool.meta["sandbox"] = event.sandbox;
    const diffs = diffsOf(this.#cwd, tool.changes);
    const step = this.#step(tool, {
      status: "in_progress",
      title: oneLine(event.title),
      // Who was asked about a delegation has seen more of it than its input.
      ...(name !== DELEGATE_TOOL && { rawInput: shownInput(input) }),
      locations: locationsOf(this.#cwd, input, tool.changes),
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

  #ended(event: Of<"tool.completed"> | Of<"tool.failed">, status: ToolCallStatus): SessionUpdate[] {
    const tool = this.#open.get(event.callId);
    if (tool === undefined) return [];
    this.#open.delete(event.callId);
    const changes = event.ok ? (event.metadata?.changes ?? tool.changes) : tool.changes;
    const content: ToolCallContent[] = [...diffsOf(this.#cwd, changes), textContent(event.content)];
    tool.meta = { ...tool.meta, durationMs: event.durationMs, ...(event.ok ? {} : { reason: event.reason }) };
    return [this.#step(tool, { status, content, ...rawOutput(event.metadata) })];
  }
}

function toOutgoing(update: SessionUpdate): Outgoing {
  return { method: "session/update", update };
}

function rawOutput(metadata: ToolResultMetadata | undefined): { rawOutput?: unknown } {
  if (metadata === undefined) return {};
  const { changes: _changes, ...rest } = metadata;
  return Object.keys(rest).length === 0 ? {} : { rawOutput: rest };
}
