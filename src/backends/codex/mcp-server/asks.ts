// Pending approvals of Codex. Each is answered exactly once: by the user, or by us when its turn is over.
import type { JsonObject } from "../../../base/json.ts";
import type { JsonRpcPeer, RpcId } from "../../../base/jsonrpc.ts";
import type { Answer } from "../../../protocol/requests.ts";
import type { Ask } from "../../types.ts";
import { ELICITATION_METHOD, REFUSAL, toAsk, toReply } from "./elicitation.ts";
import { isOfTurn, type McpState } from "./state.ts";

const METHOD_NOT_FOUND = -32601;

export class Asks {
  readonly #state: McpState;
  readonly #peer: JsonRpcPeer;
  readonly #open = new Map<string, RpcId>();

  constructor(state: McpState, peer: JsonRpcPeer) {
    this.#state = state;
    this.#peer = peer;
  }

  /** A request of Codex: the question to ask, or undefined if it was answered already. */
  take(id: RpcId, method: string, params: JsonObject): Ask | undefined {
    // A number and a string that look alike are different ids.
    const native_id = JSON.stringify(id);
    const ask = method === ELICITATION_METHOD ? toAsk(this.#state, native_id, params) : undefined;
    if (ask === undefined) {
      this.#peer.respondError(id, { code: METHOD_NOT_FOUND, message: `blemeesd does not support ${method}` });
      return undefined;
    }
    if (!this.#isWanted(params)) {
      void this.#peer.respond(id, REFUSAL);
      return undefined;
    }
    this.#open.set(native_id, id);
    return ask;
  }

  /** False: it is not pending, or the decision is unknown to Codex. Rejects if it could not be written. */
  async answer(native_id: string, answer: Answer): Promise<boolean> {
    const id = this.#open.get(native_id);
    const reply = toReply(answer);
    if (id === undefined || reply === undefined) return false;
    this.#open.delete(native_id);
    await this.#peer.respond(id, reply);
    return true;
  }

  /** Codex cancels its own request. Returns the native id, if it was open. */
  cancelled(requestId: unknown): string | undefined {
    const native_id = JSON.stringify(requestId) ?? "";
    return this.#open.delete(native_id) ? native_id : undefined;
  }

  /** The turn is over. Returns what was still open; Codex gets a refusal for each. */
  close(): string[] {
    const left = [...this.#open];
    this.#open.clear();
    for (const [, id] of left) void this.#peer.respond(id, REFUSAL);
    return left.map(([native_id]) => native_id);
  }

  /** It may arrive late, from a call we abandoned. */
  #isWanted(params: JsonObject): boolean {
    const call = params["codex_mcp_tool_call_id"];
    if (this.#state.requestId === undefined || this.#state.isCancelled) return false;
    return call === undefined || isOfTurn(this.#state, call);
  }
}
