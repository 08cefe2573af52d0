// The control protocol on the stdin and stdout of `claude`: our requests with their answers, and what it asks us: each
// tool, before it runs. Builds and matches lines; who writes them is cli-run.ts.
import { messageOf } from "../../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../../base/json.ts";
import { wordsOf } from "./fields.ts";
import type { ToolAnswer, ToolRequest } from "./transport.ts";

export type ControlAnswer = { ok: true } | { ok: false; error: string };

export interface ControlParts {
  write(line: string): void;
  /** Never rejects. */
  canUseTool(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer>;
}

const ASK_HOOK = "ask-every-tool";
/** Without it Claude Code runs by itself what its own rules allow, and reading. Its own denials still hold (2.1.197). */
const HOOKS = { PreToolUse: [{ hookCallbackIds: [ASK_HOOK] }] };
const ASK = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "ask" } };

export class CliControl {
  readonly #parts: ControlParts;
  readonly #waiting = new Map<string, (answer: ControlAnswer) => void>();
  /** What claude asks and nobody has answered yet. */
  readonly #asked = new Map<string, AbortController>();
  #count = 0;
  #isClosed = false;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  /** Before the first message. The words are added to Claude Code's own; not as an argument, which all can read. */
  initialize(appendSystemPrompt: string): Promise<ControlAnswer> {
    return this.#request({ subtype: "initialize", hooks: HOOKS, appendSystemPrompt });
  }

  interrupt(): Promise<ControlAnswer> {
    return this.#request({ subtype: "interrupt" });
  }

  /** True: it was one of ours. */
  take(message: JsonObject): boolean {
    if (message["type"] === "control_response") this.#settle(message);
    else if (message["type"] === "control_request") void this.#asks(message);
    else if (message["type"] === "control_cancel_request") this.#cancel(wordsOf(message["request_id"]));
    else return false;
    return true;
  }

  /** Everything that waits is told. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    for (const resolve of this.#waiting.values()) resolve(ENDED);
    this.#waiting.clear();
    for (const controller of this.#asked.values()) controller.abort();
    this.#asked.clear();
  }

  /** The answer settles in any case: also when claude ends first. */
  #request(request: JsonObject): Promise<ControlAnswer> {
    if (this.#isClosed) return Promise.resolve(ENDED);
    this.#count += 1;
    const request_id = `demian-${this.#count}`;
    return new Promise((resolve) => {
      this.#waiting.set(request_id, resolve);
      this.#parts.write(JSON.stringify({ type: "control_request", request_id, request }));
    });
  }

  #settle(message: JsonObject): void {
    const response = isObject(message["response"]) ? message["response"] : {};
    const request_id = wordsOf(response["request_id"]);
    const resolve = this.#waiting.get(request_id);
    this.#waiting.delete(request_id);
    const error = typeof response["error"] === "string" ? response["error"] : "no reason given";
    resolve?.(response["subtype"] === "success" ? { ok: true } : { ok: false, error });
  }

  async #asks(message: JsonObject): Promise<void> {
    const { request_id, request } = message;
    if (typeof request_id !== "string" || !isObject(request)) return;
    if (request["subtype"] === "hook_callback" && request["callback_id"] === ASK_HOOK) {
      this.#answer(request_id, { subtype: "success", response: ASK });
      return;
    }
    const wanted = request["subtype"] === "can_use_tool" ? toolRequest(request) : undefined;
    if (wanted === undefined) {
      this.#answer(request_id, {
        subtype: "error",
        error: `demian does not know ${wordsOf(request["subtype"])}`,
      });
      return;
    }
    const controller = new AbortController();
    this.#asked.set(request_id, controller);
    const answer = await this.#parts
      .canUseTool(wanted, controller.signal)
      .catch((error: unknown): ToolAnswer => ({ behavior: "deny", message: messageOf(error) }));
    // Taken back, or everything has ended: nobody waits for it.
    if (!this.#asked.delete(request_id)) return;
    this.#answer(request_id, { subtype: "success", response: answer });
  }

  #cancel(request_id: string): void {
    this.#asked.get(request_id)?.abort();
    this.#asked.delete(request_id);
  }

  #answer(request_id: string, response: JsonObject): void {
    this.#parts.write(JSON.stringify({ type: "control_response", response: { request_id, ...response } }));
  }
}

const ENDED: ControlAnswer = { ok: false, error: "claude has ended" };

/** Undefined: nobody could decide about that. */
function toolRequest(request: JsonObject): ToolRequest | undefined {
  const { tool_name, tool_use_id, input, title, description, decision_reason, agent_id } = request;
  if (typeof tool_name !== "string" || typeof tool_use_id !== "string" || !isObject(input)) return undefined;
  const words = textOf(title) ?? textOf(description);
  // With our own hook as the reason there is nothing to tell.
  const reason = request["decision_reason_type"] === "hook" ? undefined : textOf(decision_reason);
  const agentId = textOf(agent_id);
  return {
    callId: tool_use_id,
    tool: tool_name,
    input,
    ...(words === undefined ? {} : { title: words }),
    ...(reason === undefined ? {} : { reason }),
    ...(agentId === undefined ? {} : { agentId }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
