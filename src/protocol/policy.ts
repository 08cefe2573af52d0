// Rules that answer requests without asking a person, and what the daemon reports about them. sessions/policy/decide.ts
// decides; what a rule may allow at all is checked here, before it is accepted.
import * as z from "zod";
import { findAllowFault } from "./policy-checks.ts";
import { REQUEST_TYPES, type RequestType } from "./requests.ts";

const text = z.string().min(1).max(1000);
/** One value or a list. An empty list matches nothing. */
const oneOrMany = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).max(100)]);
const directory = z
  .string()
  .max(4096)
  .refine((path) => path.startsWith("/") && !path.split("/").includes("..") && !path.includes("\0"), {
    message: "must be an absolute path without `..`",
  });

/** No rule answers for a budget. */
const TYPES = Object.keys(REQUEST_TYPES).filter((type) => type !== "budget") as [RequestType];

/** All conditions that are given must hold. */
export const PolicyWhen = z
  .strictObject({
    /** `claude`, `codex`, … */
    backend: oneOrMany(text).optional(),
    /** Session ids. */
    session: oneOrMany(text).optional(),
    /** Names of sessions that a person started; names of sessions that agents spawned do not count. */
    label: oneOrMany(text).optional(),
    request_type: oneOrMany(z.enum(TYPES)).optional(),
    /** The tool's name, exactly. */
    tool: oneOrMany(text).optional(),
    /** The tool's input, exactly. */
    input: z.record(z.string(), z.unknown()).optional(),
    /** The words of a command, each literal or a hole such as `<rev>`. */
    argv: z.array(z.string().max(1000)).max(100).optional(),
    /** Files are in one of these directories. `allow` needs that of all files, `deny` and `ask` of one. */
    paths_within: oneOrMany(directory).optional(),
    /** The command runs in one of these directories. `allow` needs an agent that says so with certainty. */
    cwd_within: oneOrMany(directory).optional(),
    /** The session was started in one of these directories. */
    started_within: oneOrMany(directory).optional(),
  })
  .refine((when) => Object.keys(when).length > 0, { message: "needs at least one condition" });
export type PolicyWhen = z.infer<typeof PolicyWhen>;

export const POLICY_DECISIONS = ["allow", "deny", "ask"] as const;
export type PolicyDecision = (typeof POLICY_DECISIONS)[number];

export const RuleId = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, {
  message: "expected 1-64 characters of [a-z0-9._-], not starting with '.', '_' or '-'",
});

export const PolicyRule = z
  .strictObject({
    id: RuleId,
    when: PolicyWhen,
    // biome-ignore lint/suspicious/noThenProperty: the name in the file; a rule is never awaited
    then: z.enum(POLICY_DECISIONS),
    /** It has no effect from this time on. */
    until: z.iso.datetime({ offset: true }).optional(),
    /** It answers this many requests and then has no effect. */
    max_uses: z.int().min(1).max(1_000_000).optional(),
    /** For people; with `deny` also for the agent. */
    why: z.string().max(500).optional(),
  })
  .superRefine((rule, context) => {
    const fault = findAllowFault(rule);
    if (fault !== undefined) context.addIssue({ code: "custom", ...fault });
  });
export type PolicyRule = z.infer<typeof PolicyRule>;

/** The file. */
export const PolicyFile = z.strictObject({ rules: z.array(PolicyRule).max(1000).optional() });

/** `expired` and `used_up`: it has no effect. */
export const RuleView = z.strictObject({
  rule: PolicyRule,
  /** One line for people. */
  text: z.string(),
  state: z.enum(["active", "expired", "used_up"]),
  uses: z.int(),
  last_used_at_ms: z.int().optional(),
});
export type RuleView = z.infer<typeof RuleView>;

export const PolicyView = z.strictObject({
  /** The rules file; it may not exist. */
  file: z.string(),
  rules: z.array(RuleView),
  /** The file is invalid; these are the last good rules. */
  fault: z.string().optional(),
});
export type PolicyView = z.infer<typeof PolicyView>;

/** What one rule says about a request. */
export const RuleVerdict = z.strictObject({
  rule_id: z.string(),
  decision: z.enum(POLICY_DECISIONS),
  matches: z.boolean(),
  /** Why it does not match. */
  reason: z.string().optional(),
});
export type RuleVerdict = z.infer<typeof RuleVerdict>;

/** What policy says about a request now. */
export const PolicyVerdict = z.strictObject({
  decision: z.enum(POLICY_DECISIONS),
  rule_id: z.string().optional(),
  /** Why no rule can allow it. */
  reason: z.string().optional(),
  rules: z.array(RuleVerdict),
});
export type PolicyVerdict = z.infer<typeof PolicyVerdict>;

/** A rule, and what it would have decided among the latest requests. */
export const PolicyPreview = z.strictObject({
  rule: PolicyRule,
  text: z.string(),
  /** Number of requests it was compared with. */
  compared: z.int(),
  matches: z.array(
    z.strictObject({
      session_id: z.string(),
      request_id: z.string(),
      title: z.string(),
      requested_at_ms: z.int(),
      /** What the person decided: a decision, or the status of a request without one. */
      outcome: z.string(),
    }),
  ),
});
export type PolicyPreview = z.infer<typeof PolicyPreview>;
