// What the tools take. The schemas go to the model as they are, with every request: each word costs, and the names say most.
import * as z from "zod";
import { DECISIONS } from "../../protocol/requests.ts";
import { McpName } from "../../protocol/session.ts";

const id = z.string().min(1).max(200);
const text = z.string().min(1);

export const INPUTS = {
  spawn: z.strictObject({
    agent: z.string().min(1).describe("installed agent; a wrong name lists them"),
    prompt: text,
    name: z.string().min(1).max(200).optional(),
    cwd: z.string().min(1).optional(),
    model: z.string().min(1).optional(),
    worktree: z.boolean().optional().describe("own git worktree"),
    options: z.record(z.string(), z.unknown()).optional().describe("of the agent"),
    mcp: z.array(McpName).max(16).optional().describe("MCP servers, of yours"),
    manager: z.boolean().optional().describe("gets these tools"),
    may_answer: z.boolean().optional().describe("for its children, as you may"),
    ask: z.boolean().optional().describe("let a person allow more rights than yours"),
  }),
  send: z.strictObject({
    id: id.describe("or name"),
    text,
    now: z.boolean().optional().describe("interrupt its turn"),
  }),
  wait: z.strictObject({
    ids: z.array(id).min(1).max(64),
    all: z.boolean().optional(),
    timeout_s: z.number().min(0).max(600).optional(),
  }),
  look: z.strictObject({
    id: id.optional(),
    show: z.enum(["status", "tail", "diff", "requests"]).optional(),
    path: z.string().min(1).optional().describe("file of a diff"),
  }),
  answer: z.strictObject({
    request_id: id,
    decision: z.enum(DECISIONS).optional(),
    option: z.string().optional(),
    message: z.string().optional(),
    answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
  }),
  stop: z.strictObject({
    id,
    turn_only: z.boolean().optional(),
  }),
  search: z.strictObject({
    query: text.max(1000),
    id: id.optional(),
  }),
};
