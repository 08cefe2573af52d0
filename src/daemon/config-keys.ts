// Every setting of the daemon in one table: key, flag, environment variable, check, default. Source of `--help`, docs/config.md
// and the loader.
import * as z from "zod";
import { LOG_LEVELS } from "../base/log.ts";
import { NOTIFY_EVENTS } from "../protocol/notify.ts";
import { ON_LIMIT } from "../protocol/quota.ts";
import { OTEL_KEYS } from "./otel-keys.ts";

export interface ConfigKey {
  /** Without dashes; absent if there is no flag. */
  flag?: string;
  /** The value of the flag without an argument; absent: an argument is required. */
  alone?: string;
  env: string;
  check: z.ZodType;
  /** For defaults computed at run time. */
  defaultText?: string;
  meaning: string;
}

const path = z.string().min(1);
const count = z.coerce.number().int().min(1);
const countOrOff = z.coerce.number().int().min(0);
/** The maximum of a timer (24 days). */
const seconds = z.coerce.number().min(0).max(2_000_000);
/** A list in the file, comma-separated elsewhere. */
const names = z.preprocess(
  (value) => (typeof value === "string" ? value.split(",").map((name) => name.trim()) : value),
  z.array(z.string().min(1)),
);
/** The same, limited to these values. */
const subset = <const T extends readonly string[]>(words: T) => names.pipe(z.array(z.enum(words)));
/** A list in the file; elsewhere a JSON list, or only the program. Never split at spaces: there is no shell. */
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
    meaning: "Path of the Unix socket.",
  },
  http_port: {
    flag: "http",
    alone: "7433",
    env: "BLEMEESD_HTTP",
    check: z.coerce.number().int().min(0).max(65_535).optional(),
    defaultText: "off",
    meaning:
      "Also serve HTTP, with a token, on this port of 127.0.0.1 (7433 if no port is given; 0 is any free port).",
  },
  web: {
    flag: "web",
    alone: "true",
    env: "BLEMEESD_WEB",
    check: yesOrNo.default(false),
    meaning:
      "Serve the dashboard from the start, on `http_port`, 7433 or any free port, and show its link on a terminal.",
  },
  claude_bin: {
    flag: "claude",
    env: "BLEMEESD_CLAUDE",
    check: path.default("claude"),
    defaultText: "claude on PATH",
    meaning: "Path of the Claude Code program.",
  },
  agent_stdio: {
    flag: "agent-stdio",
    env: "BLEMEESD_AGENT_STDIO",
    check: z.enum(["files", "pipes"]).default("files"),
    meaning:
      "`files`: agents survive a restart of the daemon, which continues their turns. `pipes`: they end with the daemon.",
  },
  codex_bin: {
    flag: "codex",
    env: "BLEMEESD_CODEX",
    check: path.default("codex"),
    defaultText: "codex on PATH",
    meaning: "Path of the Codex program.",
  },
  codex_transport: {
    env: "BLEMEESD_CODEX_TRANSPORT",
    check: z.enum(["auto", "app-server", "mcp-server"]).default("auto"),
    meaning: "Codex protocol: `mcp-server` is for Codex 0.153 and older; `auto` detects it.",
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
      "A Codex turn that does nothing but reconnect is ended after this time; 0 lets it retry forever.",
  },
  codex_allow_config: {
    env: "BLEMEESD_CODEX_ALLOW_CONFIG",
    check: names.default([]),
    defaultText: "none",
    meaning:
      "Allowed keys of `options.codex.config` that can run code (`mcp_servers.docs`, `notify`): a list, or comma-separated.",
  },
  checkpoints: {
    env: "BLEMEESD_CHECKPOINTS",
    check: yesOrNo.default(true),
    meaning:
      "Record the files of the session's git repository at the start and end of every turn, for `sm diff` and `sm undo`.",
  },
  checkpoint_file_bytes: {
    env: "BLEMEESD_CHECKPOINT_FILE_BYTES",
    check: count.default(10 * 1024 * 1024),
    meaning:
      "Larger files are not kept in checkpoints: that they changed is shown, but they cannot be undone.",
  },
  checkpoint_timeout_ms: {
    env: "BLEMEESD_CHECKPOINT_TIMEOUT_MS",
    check: count.default(2000),
    meaning: "How long a message waits for the checkpoint before its turn; a slower one is skipped.",
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
    meaning: "Log file.",
  },
  store: {
    flag: "store",
    env: "BLEMEESD_STORE",
    check: z.enum(["sqlite", "memory"]).default("sqlite"),
    meaning: "`sqlite` keeps every event; `memory` keeps only the latest events, until the daemon exits.",
  },
  state_dir: {
    flag: "state-dir",
    env: "BLEMEESD_STATE_DIR",
    check: path.optional(),
    defaultText: "$XDG_STATE_HOME/blemees",
    meaning: "Directory of the databases, the run directories and the token.",
  },
  event_log_dir: {
    flag: "event-log-dir",
    env: "BLEMEESD_EVENT_LOG_DIR",
    check: path.optional(),
    defaultText: "unset",
    meaning: "Also write the history as JSONL files to this directory.",
  },
  trace_dir: {
    env: "BLEMEESD_TRACE_DIR",
    check: path.optional(),
    defaultText: "unset",
    meaning:
      "For bug reports: record each session's inputs in this directory, without any text from users or agents. Replay with `npm run replay FILE`.",
  },
  ring_buffer_size: {
    env: "BLEMEESD_RING_BUFFER_SIZE",
    check: count.default(1024),
    meaning: "Frames per session kept in memory.",
  },
  max_line_bytes: {
    env: "BLEMEESD_MAX_LINE",
    check: count.default(16_777_216),
    meaning: "Maximum frame size, for clients and agents.",
  },
  idle_timeout_s: {
    env: "BLEMEESD_IDLE_TIMEOUT",
    check: seconds.default(900),
    meaning:
      "A session without an owner that is idle for this long is unloaded and its agent stopped; its history is kept.",
  },
  request_timeout_s: {
    env: "BLEMEESD_REQUEST_TIMEOUT",
    check: seconds.default(0),
    meaning:
      "A request that is not answered for this long is declined; 0 waits forever. Per session: `request_timeout_s`.",
  },
  shutdown_grace_s: {
    env: "BLEMEESD_SHUTDOWN_GRACE",
    check: seconds.default(30),
    meaning: "How long running turns may continue when the daemon stops; 0 ends them at once.",
  },
  leave_agents: {
    flag: "leave-agents",
    alone: "true",
    env: "BLEMEESD_LEAVE_AGENTS",
    check: yesOrNo.default(false),
    meaning:
      'When the daemon stops, its agents and their turns keep running, and the next daemon continues with them. Has no effect with `store = "memory"`.',
  },
  max_concurrent_sessions: {
    env: "BLEMEESD_MAX_SESSIONS",
    check: count.default(64),
    meaning: "Maximum number of live sessions.",
  },
  max_sessions_per_connection: {
    env: "BLEMEESD_MAX_SESSIONS_PER_CONNECTION",
    check: count.default(32),
    meaning: "Maximum number of sessions per connection.",
  },
  max_connections: {
    env: "BLEMEESD_MAX_CONNECTIONS",
    check: count.default(4096),
    meaning: "Maximum number of client connections.",
  },
  slow_consumer_s: {
    env: "BLEMEESD_SLOW_CONSUMER",
    check: seconds.default(30),
    meaning: "A client that reads nothing for this long is dropped.",
  },
  stderr_rate_lines: {
    env: "BLEMEESD_STDERR_RATE_LINES",
    check: count.default(50),
    meaning: "Lines of an agent's stderr logged per window.",
  },
  stderr_rate_window_s: {
    env: "BLEMEESD_STDERR_RATE_WINDOW",
    check: seconds.default(10),
    meaning: "Length of that window.",
  },
  session_retention_days: {
    env: "BLEMEESD_RETENTION_DAYS",
    check: countOrOff.default(90),
    meaning: "Stored events older than this are removed shortly after startup and every hour; 0 keeps them.",
  },
  retention_total_bytes: {
    env: "BLEMEESD_RETENTION_TOTAL_BYTES",
    check: countOrOff.default(10_737_418_240),
    meaning:
      "Bytes of everything in the state directory. Beyond this the oldest events are removed; at least half is left for them. 0 disables it.",
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
  ...OTEL_KEYS,
  summary_retention_days: {
    env: "BLEMEESD_SUMMARY_RETENTION_DAYS",
    check: countOrOff.default(730),
    meaning: "What each turn used (`sm usage`) is kept this long; 0 keeps it.",
  },
  agents_see: {
    env: "BLEMEESD_AGENTS_SEE",
    check: z.enum(["subtree", "all"]).default("subtree"),
    meaning:
      "What agents may read. `subtree`: their own session and those below it; of others only names and states. `all`: every session.",
  },
  max_children: {
    env: "BLEMEESD_MAX_CHILDREN",
    check: count.default(64),
    meaning: "Maximum number of live children per session: loaded, or with work to do.",
  },
  max_family_depth: {
    env: "BLEMEESD_MAX_FAMILY_DEPTH",
    check: count.default(6),
    meaning: "Maximum depth of descendants below a session.",
  },
  max_family_size: {
    env: "BLEMEESD_MAX_FAMILY_SIZE",
    check: count.default(256),
    meaning: "Maximum number of live sessions in a family.",
  },
  on_limit: {
    env: "BLEMEESD_ON_LIMIT",
    check: z.enum(ON_LIMIT).default("ask"),
    meaning:
      "When a spawned session reaches a limit of its account: `wait` for the reset, `ask` a person once, or `fail`.",
  },
  quota_wait_s: {
    env: "BLEMEESD_QUOTA_WAIT_S",
    check: seconds.default(86_400),
    meaning: "The longest time that a message waits for the reset of a limit; 0: no session waits.",
  },
  stall_s: {
    env: "BLEMEESD_STALL_S",
    check: seconds.default(600),
    meaning:
      "A turn without events for this long, and without a pending request, is reported as `stalled`; 0 disables.",
  },
  worktree_dir: {
    env: "BLEMEESD_WORKTREE_DIR",
    check: path.optional(),
    defaultText: "$XDG_DATA_HOME/blemees/worktrees",
    meaning: "Directory of the worktrees that sessions are started in (`sm spawn --worktree`).",
  },
  worktree_setup: {
    env: "BLEMEESD_WORKTREE_SETUP",
    check: names
      .pipe(z.array(z.string().regex(/^\/[^=]*=./, "expected REPOSITORY=COMMAND, with an absolute path")))
      .default([]),
    defaultText: "none",
    meaning:
      "Commands that set up a new worktree before its agent starts: a list of `REPOSITORY=COMMAND`, such as `/home/me/app=npm ci`.",
  },
  notify_command: {
    env: "BLEMEESD_NOTIFY_COMMAND",
    check: argv.optional(),
    defaultText: "none",
    meaning:
      "Command to run when a session needs attention: a program, or a list with arguments. No shell; gets JSON on stdin; timeout 10 s.",
  },
  notify_url: {
    env: "BLEMEESD_NOTIFY_URL",
    check: z.string().min(1).optional(),
    defaultText: "none",
    meaning: "URL to post the same JSON to. Must be allowed by `notify_allow_urls`.",
  },
  notify_allow_urls: {
    env: "BLEMEESD_NOTIFY_ALLOW_URLS",
    check: names.default([]),
    defaultText: "none",
    meaning:
      "Allowed values of `notify_url`, also for single sessions: origins with a path prefix (`https://host/hooks`). Redirects are not followed.",
  },
  notify_on: {
    env: "BLEMEESD_NOTIFY_ON",
    check: subset(NOTIFY_EVENTS).default(["waits", "done", "failed"]),
    meaning: `Events to notify about: any of ${NOTIFY_EVENTS.join(", ")}.`,
  },
  remind_s: {
    env: "BLEMEESD_REMIND_S",
    check: seconds.default(0),
    meaning:
      "A request that is still pending notifies again, each time this long has passed; 0 notifies once. Per session: `remind_s`.",
  },
  notify_children: {
    env: "BLEMEESD_NOTIFY_CHILDREN",
    check: yesOrNo.default(false),
    meaning:
      "Also notify when a session whose parent is woken finishes, fails or stalls. Pending requests always notify.",
  },
} as const satisfies Record<string, ConfigKey>;

export type ConfigName = keyof typeof CONFIG_KEYS;
export type ConfigValues = { [K in ConfigName]: z.infer<(typeof CONFIG_KEYS)[K]["check"]> };

const BYTE_UNITS = [
  [1024 ** 3, "GiB"],
  [1024 ** 2, "MiB"],
] as const;

/** The default value as text, with its unit. */
export function formatDefault(name: ConfigName): string {
  const key: ConfigKey = CONFIG_KEYS[name];
  if (key.defaultText !== undefined) return key.defaultText;
  const value = key.check.parse(undefined);
  if (name.endsWith("_s")) return `${value} s`;
  if (name.endsWith("_days")) return `${value} days`;
  const isSize = /_bytes(?:_|$)/.test(name);
  const unit = BYTE_UNITS.find(([bytes]) => isSize && Number(value) % bytes === 0);
  return unit === undefined ? String(value) : `${value} (${Number(value) / unit[0]} ${unit[1]})`;
}

function asList(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (!value.startsWith("[")) return [value];
  try {
    return JSON.parse(value);
  } catch {
    return value; // not a list; the schema reports it
  }
}
