// Reads all pending requests of one or all sessions.
import { defined } from "../../base/values.ts";
import type { RequestRow, ViewPort } from "./port.ts";

export async function readRequests(
  port: Pick<ViewPort, "requests">,
  session_id?: string,
): Promise<RequestRow[]> {
  const rows: RequestRow[] = [];
  for (let after: string | undefined; ; ) {
    const page = await port.requests(defined({ session_id, after }));
    rows.push(...page.requests);
    after = page.next;
    if (after === undefined) return rows;
  }
}
