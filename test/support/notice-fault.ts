// Checks a notice against the table of notices. Agents are trusted at run time, so only tests do this.
import * as z from "zod";
import type { NoticeEvent } from "../../src/protocol/events.ts";
import { NOTICES, type NoticeCategory, UNKNOWN_PREFIXES } from "../../src/protocol/notices.ts";

/** What the table says is wrong with a notice, or undefined. */
export function findNoticeFault({
  category,
  data,
}: Pick<NoticeEvent, "category" | "data">): string | undefined {
  if (UNKNOWN_PREFIXES.some((prefix) => category.startsWith(prefix))) return undefined;
  if (!Object.hasOwn(NOTICES, category)) return `${category} is not in the table`;
  const checked = NOTICES[category as NoticeCategory].data.safeParse(data ?? {});
  return checked.success ? undefined : `${category}: ${z.prettifyError(checked.error)}`;
}
