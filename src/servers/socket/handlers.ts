// What each inbound frame does, one row per frame. A row replies or throws a CodedError, which the connection turns into an
// error frame.

import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { Inbound, InboundType } from "../../protocol/wire/blemees2.ts";
import type { ServerContext } from "../types.ts";
import type { Connection } from "./connection.ts";

type Handler<T extends InboundType> = (
  connection: Connection,
  frame: Inbound<T>,
  context: ServerContext,
) => void | Promise<void>;

export const HANDLERS: { [T in InboundType]: Handler<T> } = {
  "blemeesd.hello": () => {
    throw new CodedError("invalid_message", "blemeesd.hello: already received on this connection");
  },

  "blemeesd.open": async (connection, frame, { hub }) => {
    const { id, session_id, backend, resume = false, last_seen_seq, answers, options } = frame;
    const opened = await hub.open(connection, connection.subscriber(session_id), {
      session_id,
      backend,
      resume,
      ...defined({ last_seen_seq, answers }),
      ...(Object.hasOwn(options, backend) ? { options: options[backend] ?? {} } : {}),
      otherBlocks: Object.keys(options).filter((name) => name !== backend),
    });
    const { attachment, ...fields } = opened;
    connection.reply({ type: "blemeesd.opened", ...withId(id), ...fields });
    connection.attach(attachment);
  },

  "agent.user": (connection, frame, { hub }) => hub.send(connection, frame.session_id, frame.message),

  "blemeesd.interrupt": (connection, { session_id }, { hub }) =>
    hub.interrupt(connection, session_id, (was_idle) =>
      connection.reply({ type: "blemeesd.interrupted", session_id, was_idle }),
    ),

  "blemeesd.close": async (connection, frame, { hub }) => {
    const { id, session_id } = frame;
    const isDelete = frame.delete ?? false;
    await hub.close(connection, session_id, {
      delete: isDelete,
      deleteTranscript: isDelete && connection.deletesTranscripts,
    });
    connection.reply({ type: "blemeesd.closed", ...withId(id), session_id });
  },

  "blemeesd.watch": async (connection, { id, session_id, last_seen_seq }, { hub }) => {
    const subscriber = connection.subscriber(session_id);
    const { last_seq, attachment } = await hub.watch(connection, subscriber, session_id, last_seen_seq);
    connection.reply({ type: "blemeesd.watching", ...withId(id), session_id, last_seq });
    connection.attach(attachment);
  },

  "blemeesd.unwatch": async (connection, { id, session_id }, { hub }) => {
    const was_watching = await hub.unwatch(connection, session_id);
    connection.reply({ type: "blemeesd.unwatched", ...withId(id), session_id, was_watching });
  },

  "blemeesd.ping": (connection, frame) => {
    connection.reply({
      type: "blemeesd.pong",
      ...withId(frame.id),
      ...(Object.hasOwn(frame, "data") ? { data: frame.data } : {}),
    });
  },

  "blemeesd.status": (connection, { id }, { hub, facts }) => {
    const { daemon, pid, socket_path, config } = facts;
    connection.reply({
      type: "blemeesd.status_reply",
      ...withId(id),
      daemon,
      protocol: connection.protocol,
      pid,
      uptime_s: (Date.now() - facts.startedAtMs) / 1000,
      socket_path,
      backends: facts.backendStates(),
      connections: connection.siblings(),
      sessions: { ...hub.counts() },
      config,
    });
  },

  "blemeesd.session_info": async (connection, { id, session_id }, { hub }) => {
    const info = await hub.info(session_id);
    connection.reply({ type: "blemeesd.session_info_reply", ...withId(id), ...info });
  },

  "blemeesd.list_sessions": async (connection, { id, cwd, live }, { hub }) => {
    const scope = defined({ cwd });
    const sessions = await hub.list({ ...scope, ...defined({ live }) });
    connection.reply({ type: "blemeesd.sessions", ...withId(id), ...scope, sessions });
  },

  "blemeesd.list_requests": async (connection, frame, { hub }) => {
    const { id, session_id, request_id, limit, after } = frame;
    const scope = defined({ session_id });
    const reply = { type: "blemeesd.requests", ...withId(id), ...scope } as const;
    if (request_id !== undefined) {
      const request = await hub.request(session_id, request_id);
      connection.reply({ ...reply, requests: request === undefined ? [] : [request] });
      return;
    }
    const page = await hub.requests({
      ...scope,
      orphaned: frame.include_orphaned ?? false,
      settled: frame.include_settled ?? false,
      ...defined({ limit, after }),
    });
    connection.reply({ ...reply, ...page });
  },

  "blemeesd.respond": async (connection, frame, { hub }) => {
    const { id, session_id, request_id, answer, shown_hash, source = "socket" } = frame;
    const responded = await hub.respond(connection, {
      session_id,
      request_id,
      answer,
      ...defined({ shown_hash }),
      source,
    });
    connection.reply({
      type: "blemeesd.responded",
      ...withId(id),
      session_id,
      request_id,
      ...responded,
    });
  },
};

function withId(id: string | undefined): { id?: string } {
  return defined({ id });
}
