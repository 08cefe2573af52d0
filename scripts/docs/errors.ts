// docs/errors.md, from the table of error codes.
import { ERRORS, type ErrorEntry } from "../../src/protocol/errors.ts";
import { FAILURES } from "../../src/protocol/failures.ts";
import { code, page, table } from "./markdown.ts";

export function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(([name, entry]: [string, ErrorEntry]) => [
    code(name),
    entry.meaning,
    entry.fatal ? "yes" : "no",
    entry.blemees1 === undefined ? "the same" : code(entry.blemees1),
  ]);
  const failures = Object.entries(FAILURES).map(([name, meaning]) => [code(name), meaning]);
  return page("Error codes", "src/protocol/errors.ts", [
    "Every `code` that a `blemeesd.error` frame can carry. The `message` beside it is for people and may change; the code is the contract.",
    table(["code", "meaning", "closes the connection", "in blemees/1"], rows),
    [
      "A fault of the first frame of a connection closes it, whatever the code: without a hello there is nobody to talk to.",
      "Where an error stands in a session's stream it has `seq` and `backend`; as the answer to a request it has the request's `id` and `session_id`, where those were readable. See [protocol.md](protocol.md#errors).",
    ].join("\n"),
    "## Failed turns",
    [
      "`error.code` of an `agent.result` when the agent or its model failed: the same codes for every agent. `message` has the agent's own words, `native_code` its own name for it, where it has one; `retry_after_ms` is how long to wait, where the agent says so.",
      "A turn can also end with a code of the table above, as `backend_crashed`.",
    ].join("\n"),
    table(["code", "meaning"], failures),
  ]);
}
