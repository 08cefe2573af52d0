// Messages for the running turn: an extension of demian's. The agent answers the request when the message is part of the
// turn, or will not be.
import type { JsonObject } from "../../base/json.ts";
import { asObject } from "../../base/values.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { BackendSink, Steered } from "../types.ts";
import { toPrompt } from "./input.ts";
import type { AcpRunParts } from "./keep.ts";

export const STEER = "_demian/steer";

export function canSteer({ state }: Pick<AcpRunParts, "state">): boolean {
  const { demian } = asObject(asObject(state.agent["agentCapabilities"])["_meta"]);
  return asObject(demian)["steer"] === STEER;
}

export class AcpSteers {
  readonly #parts: Pick<AcpRunParts, "lane" | "state" | "name">;
  readonly #steered: NonNullable<BackendSink["steered"]>;
  /** Not answered yet. */
  readonly #open = new Set<string>();

  constructor(parts: AcpRunParts) {
    this.#parts = parts;
    this.#steered = (message_id, how) => parts.sink.steered?.(message_id, how);
  }

  /** `inOrder`: runs something after everything the agent has sent before. */
  add(message: UserMessage, message_id: string, inOrder: (act: () => void, size: number) => void): void {
    const { lane, state, name } = this.#parts;
    this.#open.add(message_id);
    const prompt = tryPrompt(message, state.agent, name);
    if (prompt === undefined) {
      this.#settle(message_id, "returned");
      return;
    }
    const params = { sessionId: state.sessionId, messageId: message_id, prompt };
    lane.call(STEER, params, (answer, size) => {
      const isTaken = "result" in answer && asObject(answer.result)["outcome"] === "taken";
      inOrder(() => this.#settle(message_id, isTaken ? "taken" : "returned"), size);
    });
  }

  endTurn(): void {
    for (const message_id of this.#open) this.#settle(message_id, "returned");
  }

  #settle(message_id: string, how: Steered): void {
    if (this.#open.delete(message_id)) this.#steered(message_id, how);
  }
}

/** Undefined: the agent cannot take it. */
function tryPrompt(message: UserMessage, agent: JsonObject, name: string): JsonObject[] | undefined {
  const capabilities = asObject(asObject(agent["agentCapabilities"])["promptCapabilities"]);
  try {
    return toPrompt(message, capabilities, name);
  } catch {
    // Delivered as an ordinary message, it is refused with the reason.
    return undefined;
  }
}
