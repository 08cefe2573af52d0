// Routes about the daemon itself.

import * as z from "zod";
import { CodedError } from "../../../base/coded-error.ts";
import { readLastLines } from "../../../base/last-lines.ts";
import { defined } from "../../../base/values.ts";
import { SessionId } from "../../../protocol/session.ts";
import { Stats } from "../../../protocol/stats.ts";
import {
  ChangeView,
  DaemonLogReply,
  HealthReply,
  RestartDaemonBody,
  RestartDaemonReply,
  StatusReply,
  StopDaemonBody,
  StopDaemonReply,
} from "../../../protocol/wire/http.ts";
import { ChangeFeed } from "../changes.ts";
import { Cursor, defineWholeNumber } from "../query.ts";
import { defineJsonReply, type Route, route } from "../route.ts";

const DAY_MS = 86_400_000;
const STATS_LIMIT = 2_000;
const MAX_STATS = 10_000;
const LOG_LINES = 200;
const MAX_LOG_LINES = 2_000;

export const DAEMON_ROUTES: readonly Route[] = [
  route({
    method: "get",
    path: "/health",
    name: "health",
    summary: "Health check.",
    isOpen: true,
    replies: { 200: defineJsonReply("It does.", "HealthReply", HealthReply) },
    handle: (_call, { facts }) => ({ body: { ok: true, daemon: facts.daemon, pid: facts.pid } }),
  }),
  route({
    method: "get",
    path: "/status",
    name: "status",
    summary: "Daemon version, detected agents and session counts.",
    replies: { 200: defineJsonReply("The status.", "StatusReply", StatusReply) },
    handle: (_call, { facts, hub, connections, streams }) => ({
      body: {
        daemon: facts.daemon,
        pid: facts.pid,
        uptime_s: (Date.now() - facts.startedAtMs) / 1000,
        socket_path: facts.socket_path,
        state_dir: facts.state_dir,
        log: facts.log(),
        ...defined({ supervisor: facts.supervisor }),
        backends: facts.backendStates(),
        sessions: hub.counts(),
        running_agents: hub.runningAgents(),
        http: { connections: connections(), streams: streams.size },
        config: facts.config,
      },
    }),
  }),
  route({
    method: "post",
    path: "/daemon/stop",
    name: "stop_daemon",
    summary:
      "Stops the daemon, like SIGTERM: running turns may finish within `shutdown_grace_s`, then their agents are ended. With `leave_agents` it exits at once and its agents keep running; the next daemon continues with them.",
    personOnly: "stop the daemon",
    body: { name: "StopDaemonBody", schema: StopDaemonBody },
    replies: { 202: defineJsonReply("It shuts down after this reply.", "StopDaemonReply", StopDaemonReply) },
    handle: ({ body, outgoing, signal }, { facts, web, control }) => {
      const leaveAgents = control.leavesAgents(body.leave_agents);
      const stop = (): void => control.stop({ leaveAgents });
      if (signal.aborted) stop();
      else outgoing.once("close", stop);
      const http_port = defined({ http_port: web.port });
      return { status: 202, body: { pid: facts.pid, leaving_agents: leaveAgents, ...http_port } };
    },
  }),
  route({
    method: "post",
    path: "/daemon/restart",
    name: "restart_daemon",
    summary:
      "Replaces the daemon with the installed version, with the same flags and environment. Agents keep running, and the next daemon continues with them. The reply comes before it is replaced; if that fails, this daemon keeps running and its log says why.",
    personOnly: "restart the daemon",
    body: { name: "RestartDaemonBody", schema: RestartDaemonBody },
    replies: {
      202: defineJsonReply("The next daemon was started.", "RestartDaemonReply", RestartDaemonReply),
    },
    errors: ["supervised", "restart_failed"],
    handle: async (_call, { facts, control }) => {
      const { pid } = await control.restart();
      return { status: 202, body: { pid: facts.pid, next_pid: pid } };
    },
  }),
  route({
    method: "get",
    path: "/daemon/log",
    name: "daemon_log",
    summary: "The end of the daemon's log, if that is a file.",
    personOnly: "read the daemon's log",
    query: z.strictObject({
      lines: defineWholeNumber(1, MAX_LOG_LINES)
        .optional()
        .describe(`Maximum number of lines. Default ${LOG_LINES}.`),
    }),
    replies: { 200: defineJsonReply("The last lines.", "DaemonLogReply", DaemonLogReply) },
    errors: ["no_log"],
    handle: ({ query: { lines = LOG_LINES } }, { facts }) => {
      const { to, path } = facts.log();
      if (path === undefined) throw new CodedError("no_log", describePlace(to, facts.supervisor?.logs));
      return { body: { path, lines: readLastLines(path, lines).lines } };
    },
  }),
  route({
    method: "get",
    path: "/stats",
    name: "stats",
    summary:
      "Statistics over time: turns and their cost, tools and their duration, and time spent waiting for answers.",
    query: z.strictObject({
      since_ms: Cursor.optional().describe("Only what ended after this time. Default: 24 hours ago."),
      session_id: SessionId.optional().describe("Only this session."),
      limit: defineWholeNumber(1, MAX_STATS)
        .optional()
        .describe(`Maximum length of each list, newest first kept. Default ${STATS_LIMIT}.`),
    }),
    replies: { 200: defineJsonReply("The statistics.", "Stats", Stats) },
    errors: ["session_unknown"],
    handle: async ({ query: { since_ms, session_id, limit } }, { manager }) => ({
      body: await manager.stats({
        since_ms: since_ms ?? Date.now() - DAY_MS,
        ...defined({ session_id }),
        limit: limit ?? STATS_LIMIT,
      }),
    }),
  }),
  route({
    method: "get",
    path: "/metrics",
    name: "metrics",
    summary: "Prometheus metrics.",
    replies: { 200: { meaning: "The text exposition format, version 0.0.4.", types: ["text/plain"] } },
    handle: async (_call, { metrics }) => ({
      text: await metrics.scrape(),
      type: "text/plain; version=0.0.4; charset=utf-8",
    }),
  }),
  route({
    method: "get",
    path: "/openapi.json",
    name: "openapi",
    summary: "This API as an OpenAPI 3.1 document.",
    isOpen: true,
    replies: {
      200: defineJsonReply("The document.", "OpenApiDocument", z.looseObject({ openapi: z.string() })),
    },
    handle: (_call, { openApi }) => ({ body: openApi() }),
  }),
  route({
    method: "get",
    path: "/events",
    name: "follow_changes",
    summary:
      "Changes of all sessions as server-sent events, after `Last-Event-ID` or from now on. `event` is the kind of change, `data` a ChangeView. `reset` means that changes may have been missed: reload `GET /sessions`. It is the first event if there is no `Last-Event-ID`.",
    replies: {
      200: {
        ...defineJsonReply("The stream; each `data` has this shape.", "ChangeView", ChangeView),
        types: ["text/event-stream"],
      },
    },
    errors: ["too_many_streams"],
    handle: ({ incoming, outgoing, isAgent }, { streams, changes, manager }) => {
      const last = incoming.headers["last-event-id"];
      // An agent sees only a part of the changes, so it shares them with nobody.
      const feed = isAgent ? new ChangeFeed(manager) : changes;
      if (isAgent) outgoing.once("close", () => feed.close());
      feed.attach(streams.open(outgoing), typeof last === "string" ? last : undefined);
      return "streaming";
    },
  }),
];

function describePlace(to: "file" | "journal" | "stderr", show: string | undefined): string {
  if (to === "journal") return `the daemon logs to the journal; show it with: ${show ?? "journalctl --user"}`;
  if (to === "file") return "the daemon's log was moved or removed; a restart opens a new one";
  return "the daemon logs to its stderr, which is not a file: look at the terminal or the program that started it, or set log_file";
}
