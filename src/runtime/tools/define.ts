// Makes a tool out of a zod schema: the same schema is told to the model and checks what the model sends.
import * as z from "zod";
import { explainIssues } from "../../base/schema.ts";
import type { ToolContext, ToolDefinition, ToolMetadata, ToolPlan, ToolResult } from "./types.ts";

export interface ToolOrder<S extends z.ZodType> {
  name: string;
  description: string;
  input: S;
  metadata: ToolMetadata;
  plan(value: z.output<S>, context: ToolContext): Promise<ToolPlan>;
  execute(value: z.output<S>, plan: ToolPlan, context: ToolContext): Promise<ToolResult>;
}

export function defineTool<S extends z.ZodType>(order: ToolOrder<S>): ToolDefinition {
  const { name, description, input, metadata } = order;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  return {
    name,
    description,
    inputSchema,
    metadata,
    check: (value) => {
      const parsed = input.safeParse(withoutNulls(value));
      if (parsed.success) return { ok: true, value: parsed.data };
      return { ok: false, message: explainIssues(parsed.error.issues) };
    },
    // The loop gives back what `check` gave out.
    plan: (value, context) => order.plan(value as z.output<S>, context),
    execute: (value, plan, context) => order.execute(value as z.output<S>, plan, context),
  };
}

/** Models that must send every field send null for those that they leave out. */
export function withoutNulls(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}
