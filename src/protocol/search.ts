// What a search over the history of sessions finds.
import * as z from "zod";

/** What the user wrote, what the agent wrote, or what tools were given and returned. */
export const SEARCH_ROLES = ["user", "agent", "tool"] as const;
export const SearchRole = z.enum(SEARCH_ROLES);
export type SearchRole = z.infer<typeof SearchRole>;

export const SearchHit = z.strictObject({
  session_id: z.string(),
  /** The event that has the text. */
  seq: z.int(),
  role: SearchRole,
  /** When it was stored, if that is known. */
  at_ms: z.int().optional(),
  /** The part of the text around the first match, on one line. */
  text: z.string(),
  /** Start and end of each match in `text`, in UTF-16 code units. */
  marks: z.array(z.tuple([z.int(), z.int()])),
  /** Name or title of the session. */
  name: z.string().optional(),
  agent: z.string().optional(),
  /** The project's directory. */
  project: z.string().optional(),
  /** It is no session: the text is in a transcript of `agent`, whose id `session_id` is. */
  outside: z.literal(true).optional(),
});
export type SearchHit = z.infer<typeof SearchHit>;

export const SearchReply = z.strictObject({
  /** The best first: newer before older, what the user wrote before what tools returned. */
  hits: z.array(SearchHit),
  /** Pass it as `after` for the next page, which may be empty. */
  next: z.string().optional(),
  /** Sessions, and conversations from outside, that are not searched to their end yet; absent if there are none. */
  unindexed: z.int().optional(),
});
export type SearchReply = z.infer<typeof SearchReply>;
