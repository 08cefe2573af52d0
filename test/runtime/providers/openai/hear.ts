// The OpenAI-compatible provider against the model server: the stream events produced by these chunks.
import { chunk, events, type ModelServer } from "../../../support/model-server.ts";
import { type Heard, listen, openai } from "../ask.ts";

/** A chunk with a piece of a tool call. */
export const call = (piece: object) => chunk({ tool_calls: [piece] });

export function hear(server: ModelServer, ...data: (object | string)[]): Promise<Heard> {
  server.script(events(...data));
  return listen(openai(server.url));
}
