// What the scenes of the demo agent are made of.
import type { AgentEvent } from "../../protocol/events.ts";
import type { Answer } from "../../protocol/requests.ts";
import type { Ask } from "../types.ts";

export const backend = "demo";

export interface Scene {
  /** A word of the prompt that chooses it. */
  word: RegExp;
  play(stage: Stage): AsyncIterable<AgentEvent>;
}

/** What a scene can do besides its own events. */
export interface Stage {
  /** Streams a text word by word, then as a whole message. */
  say(text: string, options?: { paceMs?: number; kind?: "text" | "thinking" }): AsyncIterable<AgentEvent>;
  /** Waits for a person. Undefined: the turn was interrupted. */
  ask(request: Omit<Ask, "native_id">): Promise<Answer | undefined>;
  /** What was allowed for the whole session. */
  allowed: Set<string>;
}
