// What an agent asks of a person, and what can be answered: one shape for every backend, from the ledger's row in
// the store to the frame on the wire. Who may answer and what an answer does is sessions/requests/ledger.ts.
import * as z from "zod";

/** What each type of request waits for: a decision, or answers to questions. */
export const REQUEST_TYPES = {
  /** A shell command. */
  command: "permission",
  file_change: "permission",
  /** Any other tool. */
  tool: "permission",
  /** More rights than the sandbox gives. */
  permissions: "permission",
  /** Leaving plan mode. */
  plan: "permission",
  user_input: "input",
  /** A form of an MCP server. */
  elicitation: "input",
} as const;
export type RequestType = keyof typeof REQUEST_TYPES;
const RequestType = z.enum(Object.keys(REQUEST_TYPES) as [RequestType]);

/**
 * `cancel` declines and stops the turn. `acceptForSession` is remembered by the agent until it ends;
 * `acceptAlways` longer: what it writes down stands in the choice's `writes`.
 */
export const DECISIONS = ["accept", "acceptForSession", "acceptAlways", "decline", "cancel"] as const;
export type Decision = (typeof DECISIONS)[number];

/** No two choices of a request have the same decision and option; an answer names both. */
export const Choice = z.strictObject({
  decision: z.enum(DECISIONS),
  /**
   * Tells choices with the same decision apart. The choice without one is the narrowest: it covers exactly what was
   * asked. Anything wider (a pattern, a directory, a permission mode) has an option of its own.
   */
  option: z.string().min(1).max(100).optional(),
  /** What else may stand in the answer beside the decision. */
  takes: z.array(z.enum(["message", "updated_input"])).optional(),
  /** What the agent will stop asking about, in words. */
  remembers: z.array(z.string()).optional(),
  /** What the agent will write to disk because of this decision: the file and what is added to it. */
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
  /** A text of one's own is an answer too. */
  allows_other: z.boolean().optional(),
  /** The answer is not shown, and not kept once the agent has it. */
  is_secret: z.boolean().optional(),
});
export type Question = z.infer<typeof Question>;

export const FileChange = z.strictObject({
  path: z.string(),
  /** `overwrite`: all that the file holds is replaced, whatever it is. `update`: parts of it are. */
  kind: z.enum(["add", "delete", "update", "overwrite"]),
  diff: z.string().optional(),
  move_path: z.string().optional(),
});
export type FileChange = z.infer<typeof FileChange>;

/** All that a person sees before deciding. Its hash stands in the row, and is checked before the answer goes out. */
export const RequestPayload = z.strictObject({
  /** One line for people: "Bash: mkdir -p build". */
  title: z.string(),
  /** Why the agent asks, in its own words. */
  reason: z.string().optional(),
  command: z.string().optional(),
  cwd: z.string().optional(),
  changes: z.array(FileChange).optional(),
  tool_name: z.string().optional(),
  /** The tool's exact input. */
  input: z.unknown().optional(),
  plan: z.string().optional(),
  questions: z.array(Question).optional(),
  /** What may be decided. For requests that want input: `accept` means answers, the others refuse to answer. */
  choices: z.array(Choice),
  /** What else the agent said that a person may want to see. */
  details: z.record(z.string(), z.unknown()).optional(),
});
export type RequestPayload = z.infer<typeof RequestPayload>;

/** The answer to each question by its id: the labels chosen, or a text. */
const Answers = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

export const Answer = z.union([
  z.strictObject({
    decision: z.enum(DECISIONS),
    /** The choice's `option`, where it has one. */
    option: z.string().optional(),
    /** Told to the agent with a refusal. */
    message: z.string().optional(),
    /** Run the tool with this instead. */
    updated_input: z.record(z.string(), z.unknown()).optional(),
  }),
  z.strictObject({ answers: Answers }),
]);
export type Answer = z.infer<typeof Answer>;

/** What a client may write for it: `{ answers: [...] }` around the answers of a question too, as Codex's own wire has it. */
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
 * `resolved → withdrawn | orphaned` only while it is not dispatched.
 */
export const REQUEST_STATUSES = ["pending", "resolved", "expired", "orphaned", "withdrawn"] as const;
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/**
 * Where an answer came from, as a client says it. One that does not say so is `socket` or `http`, by the way it came;
 * `api` is any program, as in sm#288 and in rows of earlier builds.
 */
export const ANSWER_SOURCES = ["tui", "web", "sm", "blemeesctl", "socket", "http", "api"] as const;
export type AnswerSource = (typeof ANSWER_SOURCES)[number];

/** `policy`: the daemon answered. No client can say that of itself. */
export const RESOLUTION_SOURCES = [...ANSWER_SOURCES, "policy"] as const;
export type ResolutionSource = (typeof RESOLUTION_SOURCES)[number];

/** One row of the ledger. */
export const RequestRow = z.strictObject({
  request_id: z.string(),
  session_id: z.string(),
  backend: z.string(),
  request_type: RequestType,
  status: z.enum(REQUEST_STATUSES),
  /** The turn in which the agent asks, as `task_started` and `agent.result` name it. Absent: it asked outside a turn. */
  turn_id: z.string().optional(),
  /** The agent's own names for where it asks. */
  thread_id: z.string().optional(),
  native_turn_id: z.string().optional(),
  item_id: z.string().optional(),
  /** The sub-agents from the root down to the one that asks; absent for the session's own agent. */
  path: z.array(z.string()).optional(),
  payload: RequestPayload,
  /** SHA-256 of the payload, in hex. */
  shown_hash: z.string(),
  requested_at_ms: z.int(),
  expires_at_ms: z.int().optional(),
  answer: Answer.optional(),
  resolved_at_ms: z.int().optional(),
  resolution_source: z.enum(RESOLUTION_SOURCES).optional(),
  /** The agent has the answer. */
  dispatched_at_ms: z.int().optional(),
  error_code: z.string().optional(),
  error_message: z.string().optional(),
  /** Which life of which agent asked: an answer goes to that one or to none. */
  generation: z.string(),
  /** In a list only: the payload was too long for it; ask for this request by its id. */
  is_cut: z.literal(true).optional(),
});
export type RequestRow = z.infer<typeof RequestRow>;

/** Nothing will change in this row any more. */
export function isSettled(row: Pick<RequestRow, "status" | "dispatched_at_ms">): boolean {
  if (row.status === "pending" || row.status === "expired") return false;
  return row.status !== "resolved" || row.dispatched_at_ms !== undefined;
}
