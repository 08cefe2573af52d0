// Every setting of the daemon, in one table: key, flag, environment variable, check, default. `--help`, the
// documentation and the loader are made from it.
import * as z from "zod";
import { LOG_LEVELS } from "../base/log.ts";
import { NOTIFY_EVENTS } from "../protocol/notify.ts";

export interface ConfigKey {
  /** Without the leading dashes; absent when there is no flag. */
  flag?: string;
  /** What the flag means when it stands alone; absent: it needs a value. */
  alone?: string;
  env: string;
  check: z.ZodType;
  /** Shown where the default is worked out at run time. */
  defaultText?: string;
  meaning: string;
}

const path = z.string().min(1);
const count = z.coerce.number().int().min(1);
const countOrOff = z.coerce.number().int().min(0);
/** At most what a timer takes (24 days). */
const seconds = z.coerce.number().min(0).max(2_000_000);
/** A list in the file, commas elsewhere. */
const names = z.preprocess(
  (value) => (typeof value === "string" ? value.split(",").map((name) => name.trim()) : value),
  z.array(z.string().min(1)),
);
/** The same, each one of a few. */
const someOf = <const T extends readonly string[]>(words: T) => names.pipe(z.array(z.enum(words)));
/** A list in the file; elsewhere a JSON list, or the program alone. Nothing is split at blanks: there is no shell. */
const argv = z.preprocess(asList, z.array(z.string()).min(1));
const yesOrNo = z.preprocess(
  (value) => (value === "true" || value === "1" ? true : value === "false" || value === "0" ? false : value),
  z.boolean(),
);

export const CONFIG_KEYS = {
  socket_path: {
    flag: "socket",
    env: "BLEMEESD_SOCKET",
    check: path.optional(),
    defaultText: "$XDG_RUNTIME_DIR/blemeesd.sock",
    meaning: "The Unix socket.",
  },
  http_port: {
    flag: "http",
    alone: "7433",
    env: "BLEMEESD_HTTP",
    check: z.coerce.number().int().min(0).max(65_535).optional(),
    defaultText: "off",
    meaning:
      "Serve HTTP on this port of 127.0.0.1 too (alone: 7433; 0 is any free one), with the token of `http-token` in the state directory. On the Unix socket it is always there.",
  },
  web: {
    flag: "web",
    alone: "true",
    env: "BLEMEESD_WEB",
    check: yesOrNo.default(false),
    meaning:
      "Serve the dashboard from the start, on the port of `http_port`, else 7433, else any free one; on a terminal its link is shown. Without it, `sm web` opens the port when it is wanted.",
  },
  claude_bin: {
    flag: "claude",
    env: "BLEMEESD_CLAUDE",
    check: path.default("claude"),
    defaultText: "claude on PATH",
    meaning: "The Claude Code program.",
  },
  codex_bin: {
    flag: "codex",
    env: "BLEMEESD_CODEX",
    check: path.default("codex"),
    defaultText: "codex on PATH",
    meaning: "The Codex program.",
  },
  codex_transport: {
    env: "BLEMEESD_CODEX_TRANSPORT",
    check: z.enum(["auto", "app-server", "mcp-server"]).default("auto"),
    meaning:
      "How Codex is spoken to: `mcp-server` is for Codex 0.153 and older; `auto` asks the program itself.",
  },
  codex_process: {
    env: "BLEMEESD_CODEX_PROCESS",
    check: z.enum(["shared", "per-session"]).default("shared"),
    meaning: "Whether Codex sessions share one process.",
  },
  codex_retry_s: {
    env: "BLEMEESD_CODEX_RETRY_S",
    check: seconds.default(300),
    meaning:
      "A Codex turn that only retries its connection for this long is ended; 0 lets it retry for ever.",
  },
  codex_allow_config: {
    env: "BLEMEESD_CODEX_ALLOW_CONFIG",
    check: names.default([]),
    defaultText: "none",
    meaning:
      "Keys of `options.codex.config` that are passed on although they are code (`mcp_servers.docs`, `notify`): a list, or names separated by commas.",
  },
  log_level: {
    flag: "log-level",
    env: "BLEMEESD_LOG_LEVEL",
    check: z.enum(LOG_LEVELS).optional(),
    defaultText: "info (warn on a terminal)",
    meaning: `One of ${LOG_LEVELS.join(", ")}.`,
  },
  log_file: {
    flag: "log-file",
    env: "BLEMEESD_LOG_FILE",
    check: path.optional(),
    defaultText: "stderr",
    meaning: "Where the log goes.",
  },
  store: {
    flag: "store",
    env: "BLEMEESD_STORE",
    check: z.enum(["sqlite", "memory"]).default("sqlite"),
    meaning: "`sqlite` keeps every event; `memory` keeps only the ring buffer.",
  },
  state_dir: {
    flag: "state-dir",
    env: "BLEMEESD_STATE_DIR",
    check: path.optional(),
    defaultText: "$XDG_STATE_HOME/blemees",
    meaning: "Where the database lives.",
  },
  event_log_dir: {
    flag: "event-log-dir",
    env: "BLEMEESD_EVENT_LOG_DIR",
    check: path.optional(),
    defaultText: "unset",
    meaning: "Keep events as JSONL files in this directory instead of in SQLite.",
  },
  trace_dir: {
    env: "BLEMEESD_TRACE_DIR",
    check: path.optional(),
    defaultText: "unset",
    meaning:
      "For a bug report: keep what happens to each session in this directory, without what people and agents say. `npm run replay FILE` shows it.",
  },
  ring_buffer_size: {
    env: "BLEMEESD_RING_BUFFER_SIZE",
    check: count.default(1024),
    meaning: "Frames of a session kept in memory.",
  },
  max_line_bytes: {
    env: "BLEMEESD_MAX_LINE",
    check: count.default(16_777_216),
    meaning: "The longest frame a client or an agent may send.",
  },
  idle_timeout_s: {
    env: "BLEMEESD_IDLE_TIMEOUT",
    check: seconds.default(900),
    meaning:
      "A session without an owner that is idle for this long is unloaded and its agent stopped; its history is kept. A session that waits for an answer or has work in the background (commands, sub-agents) is not idle. A turn still running this long after its owner left is ended, with a notice.",
  },
  request_timeout_s: {
    env: "BLEMEESD_REQUEST_TIMEOUT",
    check: seconds.default(0),
    meaning: "What an agent asks is declined when nobody answers for this long; 0 waits for ever.",
  },
  shutdown_grace_s: {
    env: "BLEMEESD_SHUTDOWN_GRACE",
    check: seconds.default(30),
    meaning: "How long running turns may finish when the daemon stops; 0 ends them at once.",
  },
  max_concurrent_sessions: {
    env: "BLEMEESD_MAX_SESSIONS",
    check: count.default(64),
    meaning: "Live sessions at once.",
  },
  max_sessions_per_connection: {
    env: "BLEMEESD_MAX_SESSIONS_PER_CONNECTION",
    check: count.default(32),
    meaning: "Sessions that one connection may own.",
  },
  max_connections: {
    env: "BLEMEESD_MAX_CONNECTIONS",
    check: count.default(4096),
    meaning: "Client connections at once.",
  },
  slow_consumer_s: {
    env: "BLEMEESD_SLOW_CONSUMER",
    check: seconds.default(30),
    meaning: "A client that reads nothing for this long is dropped.",
  },
  stderr_rate_lines: {
    env: "BLEMEESD_STDERR_RATE_LINES",
    check: count.default(50),
    meaning: "Lines of an agent's stderr shown per window.",
  },
  stderr_rate_window_s: {
    env: "BLEMEESD_STDERR_RATE_WINDOW",
    check: seconds.default(10),
    meaning: "That window.",
  },
  session_retention_days: {
    env: "BLEMEESD_RETENTION_DAYS",
    check: countOrOff.default(90),
    meaning: "Stored events older than this are pruned at start and hourly; 0 keeps them.",
  },
  retention_total_bytes: {
    env: "BLEMEESD_RETENTION_TOTAL_BYTES",
    check: countOrOff.default(10_737_418_240),
    meaning:
      "Total stored bytes for all sessions. Beyond this the oldest events are removed first, but never those of a running turn or since a pending request; 0 disables the limit.",
  },
  retention_rows_per_session: {
    env: "BLEMEESD_RETENTION_ROWS",
    check: countOrOff.default(1_000_000),
    meaning: "Stored events kept per session; 0 is no limit.",
  },
  retention_bytes_per_session: {
    env: "BLEMEESD_RETENTION_BYTES",
    check: countOrOff.default(536_870_912),
    meaning: "Stored bytes kept per session; 0 is no limit.",
  },
  observe_retention_days: {
    env: "BLEMEESD_OBSERVE_RETENTION_DAYS",
    check: countOrOff.default(14),
    meaning: "Tool and turn events (`observability.db`) older than this are pruned; 0 keeps them.",
  },
  observe_tool_rows: {
    env: "BLEMEESD_OBSERVE_TOOL_ROWS",
    check: countOrOff.default(20_000),
    meaning: "Tool events kept per session; 0 is no limit.",
  },
  observe_turn_rows: {
    env: "BLEMEESD_OBSERVE_TURN_ROWS",
    check: countOrOff.default(5_000),
    meaning: "Turn events kept per session; 0 is no limit.",
  },
  max_children: {
    env: "BLEMEESD_MAX_CHILDREN",
    check: count.default(32),
    meaning: "Children that a session may have; those that were stopped do not count.",
  },
  max_family_depth: {
    env: "BLEMEESD_MAX_FAMILY_DEPTH",
    check: count.default(6),
    meaning: "Generations of children below a session.",
  },
  max_family_size: {
    env: "BLEMEESD_MAX_FAMILY_SIZE",
    check: count.default(256),
    meaning: "Sessions of one family; those that were stopped do not count.",
  },
  stall_s: {
    env: "BLEMEESD_STALL_S",
    check: seconds.default(600),
    meaning: "A turn in which nothing happens for this long, with nothing asked, counts as stalled; 0 never.",
  },
  notify_command: {
    env: "BLEMEESD_NOTIFY_COMMAND",
    check: argv.optional(),
    defaultText: "none",
    meaning:
      "Run when a session needs somebody: a list of the program and its arguments, or a program alone. No shell; JSON on stdin, 10 s.",
  },
  notify_url: {
    env: "BLEMEESD_NOTIFY_URL",
    check: z.string().min(1).optional(),
    defaultText: "none",
    meaning: "The same JSON is posted there. It must be on `notify_allow_urls`.",
  },
  notify_allow_urls: {
    env: "BLEMEESD_NOTIFY_ALLOW_URLS",
    check: names.default([]),
    defaultText: "none",
    meaning:
      "Where `notify_url`, also that of a single session, may lead: origins with the beginning of a path (`https://host/hooks`). Redirects are not followed.",
  },
  notify_on: {
    env: "BLEMEESD_NOTIFY_ON",
    check: someOf(NOTIFY_EVENTS).default(["waits", "done", "failed"]),
    meaning: `When: some of ${NOTIFY_EVENTS.join(", ")}.`,
  },
  notify_children: {
    env: "BLEMEESD_NOTIFY_CHILDREN",
    check: yesOrNo.default(false),
    meaning:
      "Whether ends and stalls of sessions are told whose parent is woken by them. That they wait for an answer always is.",
  },
} as const satisfies Record<string, ConfigKey>;

export type ConfigName = keyof typeof CONFIG_KEYS;
export type ConfigValues = { [K in ConfigName]: z.infer<(typeof CONFIG_KEYS)[K]["check"]> };

/** What a key is when nothing sets it, as text for people. */
export function defaultText(name: ConfigName): string {
  const key: ConfigKey = CONFIG_KEYS[name];
  return key.defaultText ?? String(key.check.parse(undefined));
}

function asList(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (!value.startsWith("[")) return [value];
  try {
    return JSON.parse(value);
  } catch {
    return value; // which is no list, and is told so
  }
}
