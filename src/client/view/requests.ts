// All that waits for an answer, of one session or of all, read page by page.
import type { RequestRow, ViewPort } from "./port.ts";

export async function readRequests(
  port: Pick<ViewPort, "requests">,
  session_id?: string,
): Promise<RequestRow[]> {
  const rows: RequestRow[] = [];
  for (let after: string | undefined; ; ) {
    const page = await port.requests({
      ...(session_id === undefined ? {} : { session_id }),
      ...(after === undefined ? {} : { after }),
    });
    rows.push(...page.requests);
    after = page.next;
    if (after === undefined) return rows;
  }
}
