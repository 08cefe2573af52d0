// Routes of the durable queue, and waiting for the outcome of a message.

import * as z from "zod";
import { CodedError } from "../../../base/coded-error.ts";
import { defined } from "../../../base/values.ts";
import { InputRecord } from "../../../protocol/queue.ts";
import { InputBody, InputReply, QueueReply, WaitReply } from "../../../protocol/wire/http.ts";
import { awaitUnlessAborted } from "../abort.ts";
import { defineCommaList, defineSeconds } from "../query.ts";
import { defineJsonReply, type Route, route } from "../route.ts";
import { chooseKey, chooseMessage } from "./sessions.ts";

const DEFAULT_WAIT_S = 60;
const MAX_WAIT_S = 3_600;

export const INPUT_ROUTES: readonly Route[] = [
  route({
    method: "post",
    path: "/sessions/{id}/input",
    name: "send_input",
    summary:
      'Queues a message for the agent: delivered once, in order, when the agent is free; with `delivery: "steer"` added to the running turn. Refused with `pending_structured_request` while the agent waits for an answer; `data` has the oldest request.',
    body: { name: "InputBody", schema: InputBody },
    asker: "the sender",
    keyed: true,
    replies: {
      201: defineJsonReply("The message was queued.", "InputReply", InputReply),
      200: defineJsonReply("The key was used before: the state of that message.", "InputReply", InputReply),
    },
    errors: [
      "session_unknown",
      "pending_structured_request",
      "queue_full",
      "oversize_message",
      "idempotency_mismatch",
      "store_failed",
    ],
    handle: async ({ param, body, asker, key }, { manager }) => {
      const message = chooseMessage(body.text, body.message, "text");
      if (message === undefined) {
        throw new CodedError("invalid_message", "body: /text: required, expected string (or /message)");
      }
      const steer = body.delivery === "steer" ? true : undefined;
      if (steer && body.now === true)
        throw new CodedError(
          "invalid_message",
          "body: /now: interrupts the turn that /delivery would steer; send one",
        );
      const order = { message, now: body.now, steer, key: chooseKey(key, body.idempotency_key), from: asker };
      const reply = await manager.input({ session_id: param("id"), ...defined(order) });
      return { status: reply.repeated ? 200 : 201, body: reply };
    },
  }),
  route({
    method: "get",
    path: "/sessions/{id}/queue",
    name: "show_queue",
    summary: "Queued messages, and the outcome of recent ones.",
    replies: { 200: defineJsonReply("The queue.", "QueueReply", QueueReply) },
    errors: ["session_unknown"],
    handle: async ({ param }, { manager }) => ({
      body: { session_id: param("id"), ...(await manager.queue(param("id"))) },
    }),
  }),
  route({
    method: "delete",
    path: "/sessions/{id}/queue/{message_id}",
    name: "cancel_input",
    summary: "Cancels a queued message.",
    replies: { 200: defineJsonReply("The cancelled message.", "InputRecord", InputRecord) },
    errors: ["session_unknown", "message_unknown", "store_failed"],
    handle: async ({ param }, { manager }) => ({
      body: await manager.cancelInput(param("id"), param("message_id")),
    }),
  }),
  route({
    method: "get",
    path: "/sessions/{id}/wait",
    name: "wait",
    summary: "Waits until the session is idle or blocked, a message's turn has ended, or the timeout.",
    query: z.strictObject({
      until: defineCommaList(["idle", "blocked"])
        .optional()
        .describe("`idle`, `blocked` or both, separated by a comma. Default: both."),
      message_id: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("Wait for the end of this message's turn instead."),
      timeout_s: defineSeconds(MAX_WAIT_S)
        .optional()
        .describe(`Timeout in seconds (default ${DEFAULT_WAIT_S}, max ${MAX_WAIT_S}).`),
    }),
    replies: { 200: defineJsonReply("Why the wait ended, and the session.", "WaitReply", WaitReply) },
    errors: ["session_unknown", "message_unknown"],
    handle: async ({ param, query, signal }, { manager }) => {
      const { until = ["idle", "blocked"], message_id, timeout_s = DEFAULT_WAIT_S } = query;
      const order = { session_id: param("id"), until, timeoutMs: timeout_s * 1000, signal };
      const reply = manager.wait({ ...order, ...defined({ message_id }) });
      return { body: await awaitUnlessAborted(reply, signal) };
    },
  }),
];
