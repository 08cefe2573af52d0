// Anthropic's provider against the model server, and the events that most of its answers begin with.
import type { ResolveOptions } from "../../../../src/runtime/providers/resolve.ts";
import type { Provider } from "../../../../src/runtime/providers/types.ts";
import { anthropicEnvelope, anthropicEvents, type ModelServer } from "../../../support/model-server.ts";
import { type Heard, listen, resolve } from "../ask.ts";

export const KEY = "sk-ant-secret-0123456789";

export function anthropic(baseURL: string, options: Partial<ResolveOptions> = {}): Provider {
  return resolve({ type: "anthropic", baseURL, apiKeyEnv: "A_KEY" }, { env: { A_KEY: KEY }, ...options });
}

export const start = { type: "message_start", message: anthropicEnvelope() };

export const block = (index: number, content: object) => ({
  type: "content_block_start",
  index,
  content_block: content,
});

/** The stream events produced by these events. */
export function hear(server: ModelServer, ...list: Parameters<typeof anthropicEvents>): Promise<Heard> {
  server.script(anthropicEvents(...list));
  return listen(anthropic(server.url));
}
