// docs/notices.md, from the table of notices: each category, what it means, and the fields of its data.
import * as z from "zod";
import { NOTICES, UNKNOWN_PREFIXES } from "../../src/protocol/notices.ts";
import { code, page, table } from "./markdown.ts";

export function noticesPage(): string {
  const rows = Object.entries(NOTICES).map(([name, { meaning, data }]) => [
    code(name),
    meaning,
    fieldsOf(data).map(code).join(" "),
  ]);
  return page("Notices", "src/protocol/notices.ts", [
    [
      "Every `category` of `agent.notice`, for all agents. Clients may ignore all of them; those that read `data` find the",
      "fields below and no others. Agent-specific data is in `data.native`, in the agent's own format.",
    ].join("\n"),
    table(["category", "meaning", "`data`"], rows),
    [
      `JSON Schema: \`schemas/notices/<category>.json\`. \`code\` in \`model_retry\`, \`error_reported\` and \`subagent_finished\` is one of`,
      "[Failed turns](errors.md#failed-turns). Which native event becomes which notice: [agent-events.md](agent-events.md).",
    ].join("\n"),
    "## Other categories",
    [
      "An event that the daemon does not know, or that only one agent has, is passed on under its own category, with the",
      "agent's fields in `data`. Show at most its `text`: these may change with every version of the agent. They start with",
      `${UNKNOWN_PREFIXES.map(code).join(", ")}.`,
    ].join("\n"),
  ]);
}

function fieldsOf(schema: z.ZodObject): string[] {
  return Object.entries(schema.shape).map(([name, type]) =>
    z.safeParse(type, undefined).success ? `${name}?` : name,
  );
}
