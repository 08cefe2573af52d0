// Responses API answers as events, in the shapes that its servers send.
import { bytes, type Reply, type ScriptedCall, sse } from "./model-server.ts";

type Event = { type: string } & Record<string, unknown>;

export const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 7 },
  total_tokens: 120,
};

export function responsesEvents(...list: Event[]): Reply {
  return bytes(...list.map((event) => `event: ${event.type}\n${sse(event)}`));
}

export const created: Event = {
  type: "response.created",
  response: {
    id: "resp_1",
    object: "response",
    model: "the-model",
    status: "in_progress",
    output: [],
    usage: null,
  },
};

export function completed(more: object = {}): Event {
  const response = { id: "resp_1", object: "response", model: "the-model", status: "completed", output: [] };
  return { type: "response.completed", response: { ...response, usage: USAGE, ...more } };
}

/** Encrypted reasoning with a summary. */
export function thought(index: number, text = "Hm.", sealed = `sealed-${index}`): Event[] {
  const item = { id: `rs_${index}`, type: "reasoning", summary: [], encrypted_content: sealed };
  const at = { item_id: item.id, output_index: index, summary_index: 0 };
  return [
    { type: "response.output_item.added", output_index: index, item },
    { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } },
    { type: "response.reasoning_summary_text.delta", ...at, delta: text },
    {
      type: "response.output_item.done",
      output_index: index,
      item: { ...item, summary: [{ type: "summary_text", text }] },
    },
  ];
}

export function message(index: number, text: string): Event[] {
  const item = { id: `msg_${index}`, type: "message", role: "assistant", status: "in_progress", content: [] };
  const words = text.match(/\s*\S+/g) ?? [];
  return [
    { type: "response.output_item.added", output_index: index, item },
    ...words.map((delta) => ({
      type: "response.output_text.delta",
      item_id: item.id,
      output_index: index,
      content_index: 0,
      delta,
    })),
    {
      type: "response.output_item.done",
      output_index: index,
      item: { ...item, status: "completed", content: [{ type: "output_text", text, annotations: [] }] },
    },
  ];
}

/** The arguments are streamed in chunks of a few characters. */
export function functionCall(index: number, { id, name, input }: ScriptedCall): Event[] {
  const item = {
    id: `fc_${index}`,
    type: "function_call",
    status: "in_progress",
    call_id: id ?? `call_${index}`,
    name,
    arguments: "",
  };
  const written = JSON.stringify(input);
  const pieces = written.match(/.{1,7}/gs) ?? [];
  return [
    { type: "response.output_item.added", output_index: index, item },
    ...pieces.map((delta) => ({
      type: "response.function_call_arguments.delta",
      item_id: item.id,
      output_index: index,
      delta,
    })),
    {
      type: "response.function_call_arguments.done",
      item_id: item.id,
      output_index: index,
      arguments: written,
    },
    {
      type: "response.output_item.done",
      output_index: index,
      item: { ...item, status: "completed", arguments: written },
    },
  ];
}

/** A whole answer: text and calls. */
export function responsesReply(text: string, calls: readonly ScriptedCall[] = []): Reply {
  const words = text === "" ? [] : message(0, text);
  return responsesEvents(
    created,
    ...words,
    ...calls.flatMap((call, at) => functionCall(at + 1, call)),
    completed(),
  );
}
