// Requests of agents and their answers: one shape for every backend, from the ledger's row in the store to the frame on the
// wire. sessions/requests/ledger.ts decides who may answer and what an answer does.
import * as z from "zod";
import { Actor } from "./actor.ts";

/** What each type of request needs: a permission, or answers to questions. */
export const REQUEST_TYPES = {
  /** A shell command. */
  command: "permission",
  file_change: "permission",
  /** Any other tool. */
  tool: "permission",
  /** More rights than the sandbox grants. */
  permissions: "permission",
  /** Leaving plan mode. */
  plan: "permission",
  /** The daemon: whether the session waits for the reset of a limit. */
  quota: "permission",
  /** Asked by the daemon: a budget is used up. Only people answer it. */
  budget: "permission",
  user_input: "input",
  /** A form of an MCP server. */
  elicitation: "input",
} as const;
export type RequestType = keyof typeof REQUEST_TYPES;
const RequestType = z.enum(Object.keys(REQUEST_TYPES) as [RequestType]);

/**
 * `cancel` declines and stops the turn. The agent remembers `acceptForSession` until it exits, and `acceptAlways` longer:
 * the choice's `writes` lists what it saves.
 */
export const DECISIONS = ["accept", "acceptForSession", "acceptAlways", "decline", "cancel"] as const;
export type Decision = (typeof DECISIONS)[number];

/** Choices of a request differ in decision or option; an answer names both. */
export const Choice = z.strictObject({
  decision: z.enum(DECISIONS),
  /**
   * Distinguishes choices with the same decision. The choice without an option is the narrowest: it covers exactly what was
   * asked. Anything wider (a pattern, a directory, a permission mode) has an option.
   */
  option: z.string().min(1).max(100).optional(),
  /** What to call it and what it does, if the decision does not say it. */
  label: z.string().optional(),
  meaning: z.string().optional(),
  /** Optional fields of the answer that the agent accepts. */
  takes: z.array(z.enum(["message", "updated_input"])).optional(),
  /** Descriptions of what the agent will no longer ask about. */
  remembers: z.array(z.string()).optional(),
  /** What the agent will write to disk: the file and the added text. */
  writes: z.array(z.strictObject({ path: z.string(), content: z.string() })).optional(),
});
export type Choice = z.infer<typeof Choice>;

export const Question = z.strictObject({
  /** The key of its answer. */
  id: z.string(),
  question: z.string(),
  header: z.string().optional(),
  options: z.array(z.strictObject({ label: z.string(), description: z.string().optional() })).optional(),
  multi_select: z.boolean().optional(),
  /** Free text is also accepted. */
  allows_other: z.boolean().optional(),
  /** The answer is not shown, and not stored once the agent has it. */
  is_secret: z.boolean().optional(),
});
export type Question = z.infer<typeof Question>;

export const FileChange = z.strictObject({
  path: z.string(),
  /** `overwrite`: replaces the whole file. `update`: changes parts of it. */
  kind: z.enum(["add", "delete", "update", "overwrite"]),
  diff: z.string().optional(),
  move_path: z.string().optional(),
});
export type FileChange = z.infer<typeof FileChange>;

/** Everything the user sees before deciding. The row has its hash, which is checked before the answer is sent. */
export const RequestPayload = z.strictObject({
  /** One line: "Bash: mkdir -p build". */
  title: z.string(),
  /** The agent's reason for asking. */
  reason: z.string().optional(),
  command: z.string().optional(),
  cwd: z.string().optional(),
  /** The agent's shell keeps its directory between commands: it started in `cwd` and may have moved. */
  cwd_may_differ: z.literal(true).optional(),
  changes: z.array(FileChange).optional(),
  tool_name: z.string().optional(),
  /** The tool's exact input. */
  input: z.unknown().optional(),
  plan: z.string().optional(),
  questions: z.array(Question).optional(),
  /** Possible decisions. For input requests, `accept` means to answer, and the others decline to answer. */
  choices: z.array(Choice),
  /** More information from the agent that the user may want to see. */
  details: z.record(z.string(), z.unknown()).optional(),
});
export type RequestPayload = z.infer<typeof RequestPayload>;

/** The answer to each question by its id: the chosen labels, or text. */
const Answers = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

export const Answer = z.union([
  z.strictObject({
    decision: z.enum(DECISIONS),
    /** The choice's `option`, if it has one. */
    option: z.string().optional(),
    /** Sent to the agent with a refusal. */
    message: z.string().optional(),
    /** Runs the tool with this input instead. */
    updated_input: z.record(z.string(), z.unknown()).optional(),
  }),
  z.strictObject({ answers: Answers }),
]);
export type Answer = z.infer<typeof Answer>;

/** The form clients may send: answers of a question may also be wrapped in `{ answers: [...] }`, as in Codex's protocol. */
export const GivenAnswer = z.union([
  Answer.options[0],
  z.strictObject({
    answers: z.record(
      z.string(),
      z.union([
        z.string(),
        z.array(z.string()),
        z.strictObject({ answers: z.array(z.string()) }).transform(({ answers }) => answers),
      ]),
    ),
  }),
]);

/**
 * `pending → resolved | expired | withdrawn | orphaned`; `expired → resolved | orphaned`;
 * `resolved → withdrawn | orphaned` only until it is dispatched.
 */
export const REQUEST_STATUSES = ["pending", "resolved", "expired", "orphaned", "withdrawn"] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/**
 * Where the answer was given, according to the client. Default: `socket` or `http`, depending on the connection. `api` is any
 * program, as in the session-manager format and in rows of earlier builds.
 */
export const ANSWER_SOURCES = ["tui", "web", "sm", "blemeesctl", "socket", "http", "api"] as const;
export type AnswerSource = (typeof ANSWER_SOURCES)[number];

/** `policy`: the daemon answered. Clients cannot use it. */
export const RESOLUTION_SOURCES = [...ANSWER_SOURCES, "policy"] as const;
export type ResolutionSource = (typeof RESOLUTION_SOURCES)[number];

/**
 * How an answer reached the daemon. `socket`, `http`: the connection. `tui`, `web`: the same, for a person whose client says
 * that it is one of these screens. `tool`: a tool call on the agent's own channel. `policy`: a rule. `expiry`: nobody answered in time.
 */
export const ANSWER_WAYS = ["socket", "http", "web", "tui", "tool", "policy", "expiry"] as const;
export type AnswerWay = (typeof ANSWER_WAYS)[number];

/** Who answered, as the daemon determined it. */
export const AnsweredBy = z.strictObject({
  actor: Actor,
  /** The process at the other end of the connection, from the kernel. */
  peer_pid: z.int().optional(),
  via: z.enum(ANSWER_WAYS),
});
export type AnsweredBy = z.infer<typeof AnsweredBy>;

/** One row of the ledger. */
export const RequestRow = z.strictObject({
  request_id: z.string(),
  session_id: z.string(),
  backend: z.string(),
  request_type: RequestType,
  status: z.enum(REQUEST_STATUSES),
  /** The turn in which the agent asked, as in `task_started` and `agent.result`. Absent if it asked outside a turn. */
  turn_id: z.string().optional(),
  /** The agent's own ids. */
  thread_id: z.string().optional(),
  native_turn_id: z.string().optional(),
  native_request_id: z.string().optional(),
  item_id: z.string().optional(),
  /** Sub-agents from the root down to the one asking; absent for the session's main agent. */
  path: z.array(z.string()).optional(),
  payload: RequestPayload,
  /** SHA-256 of the payload, in hex. */
  shown_hash: z.string(),
  requested_at_ms: z.int(),
  expires_at_ms: z.int().optional(),
  answer: Answer.optional(),
  resolved_at_ms: z.int().optional(),
  resolution_source: z.enum(RESOLUTION_SOURCES).optional(),
  /** Set by the daemon, unlike `resolution_source`. */
  answered_by: AnsweredBy.optional(),
  /** The policy rule that answered. */
  rule_id: z.string().optional(),
  /** When the agent received the answer. */
  dispatched_at_ms: z.int().optional(),
  error_code: z.string().optional(),
  error_message: z.string().optional(),
  /** The run of the agent that asked: an answer goes to that run or to none. */
  generation: z.string(),
  /** Only in the store: policy has not decided yet whether a rule answers it, so it is not shown. */
  undecided: z.literal(true).optional(),
  /** In lists only: the payload was too long; fetch this request by its id. */
  is_cut: z.literal(true).optional(),
});
export type RequestRow = z.infer<typeof RequestRow>;

/** Whether the row is final. */
export function isSettled(row: Pick<RequestRow, "status" | "dispatched_at_ms">): boolean {
  if (row.status === "pending" || row.status === "expired") return false;
  return row.status !== "resolved" || row.dispatched_at_ms !== undefined;
}
