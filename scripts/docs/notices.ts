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
      "Every `category` of `agent.notice`, whichever agent is behind the session. Clients need to know none of them; those that",
      "do read `data` find the fields below and no others. What only one agent says is in `data.native`, in its own words.",
    ].join("\n"),
    table(["category", "meaning", "`data`"], rows),
    [
      `JSON Schema: \`schemas/notices/<category>.json\`. \`code\` in \`model_retry\`, \`error_reported\` and \`subagent_finished\` is one of`,
      "[Failed turns](errors.md#failed-turns). Which native event becomes which notice: [agent-events.md](agent-events.md).",
    ].join("\n"),
    "## Other categories",
    [
      "An event that the daemon does not know, or that only one agent has, is passed on under a category of its own, with that",
      "agent's fields in `data`. Show its `text`, if at all: they may change with every version of the agent. They begin with",
      `${UNKNOWN_PREFIXES.map(code).join(", ")}.`,
    ].join("\n"),
  ]);
}

function fieldsOf(schema: z.ZodObject): string[] {
  return Object.entries(schema.shape).map(([name, type]) =>
    z.safeParse(type, undefined).success ? `${name}?` : name,
  );
}
