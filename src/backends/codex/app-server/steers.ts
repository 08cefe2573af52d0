// Messages for the running turn (`turn/steer`). Codex adds one to the turn when it next asks the model, and then begins
// an item with the id that we gave it; what it has not added when the turn ends is lost there (0.169.0).
import type { JsonObject } from "../../../base/json.ts";
import { asObject, asString } from "../../../base/values.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import type { SessionLane } from "../../shared-process.ts";
import type { BackendSink } from "../../types.ts";
import { toInput } from "./input.ts";
import type { Incoming } from "./router.ts";
import type { CodexTurn } from "./turn.ts";

export interface SteerParts {
  lane: Pick<SessionLane, "call">;
  threadId: string;
  steered: NonNullable<BackendSink["steered"]>;
}

export class CodexSteers {
  readonly #parts: SteerParts;
  /** With Codex, or waiting for the id of the turn. */
  readonly #open = new Set<string>();
  /** To be sent once the turn has an id. */
  #waiting: { message_id: string; input: JsonObject[] }[] = [];

  constructor(parts: SteerParts) {
    this.#parts = parts;
  }

  add(turn: CodexTurn | undefined, message: UserMessage, message_id: string): void {
    const input = turn === undefined ? undefined : tryInput(message);
    this.#open.add(message_id);
    if (turn === undefined || input === undefined) {
      this.#settle(message_id, "returned");
      return;
    }
    this.#waiting.push({ message_id, input });
    this.send(turn);
  }

  /** The turn may have an id now. */
  send({ id }: CodexTurn): void {
    if (id === undefined) return;
    const { lane, threadId } = this.#parts;
    for (const { message_id, input } of this.#waiting.splice(0)) {
      const params = { threadId, expectedTurnId: id, input, clientUserMessageId: message_id };
      lane.call("turn/steer", params, (answer) => {
        if ("error" in answer) this.#settle(message_id, "returned");
      });
    }
  }

  /** Before the message is handled. */
  see({ method, params }: Incoming): void {
    const clientId = asString(asObject(params["item"])["clientId"]);
    if (method === "item/started" && clientId !== undefined) this.#settle(clientId, "taken");
  }

  endTurn(): void {
    this.#waiting = [];
    for (const message_id of this.#open) this.#settle(message_id, "returned");
  }

  #settle(message_id: string, how: "taken" | "returned"): void {
    if (this.#open.delete(message_id)) this.#parts.steered(message_id, how);
  }
}

/** Undefined: Codex cannot take it. */
function tryInput(message: UserMessage): JsonObject[] | undefined {
  try {
    return toInput(message);
  } catch {
    // Delivered as an ordinary message, it is refused with the reason.
    return undefined;
  }
}
