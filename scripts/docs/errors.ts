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
    "Every `code` of a `blemeesd.error` frame. The `message` is for users and may change; rely on the code.",
    table(["code", "meaning", "closes the connection", "in blemees/1"], rows),
    [
      "Any error in the first frame of a connection closes it, whatever the code.",
      "In a session's stream, an error has `seq` and `backend`; as the reply to a request, it has the request's `id` and `session_id` if they could be read. See [protocol.md](protocol.md#errors).",
    ].join("\n"),
    "## Failed turns",
    [
      "`error.code` of an `agent.result` when the agent or its model failed: the same codes for every agent. `message` is the agent's own, `native_code` is its own code, and `retry_after_ms` is how long to wait, if the agent reports them.",
      "A turn can also end with a code from the table above, such as `backend_crashed`.",
    ].join("\n"),
    table(["code", "meaning"], failures),
  ]);
}
