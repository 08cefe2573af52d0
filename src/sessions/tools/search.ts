// Searches the history of the sessions that the caller may read.
import type * as z from "zod";
import { findSession } from "./find.ts";
import type { INPUTS } from "./inputs.ts";
import { toBriefHit } from "./shapes.ts";
import type { ToolContext } from "./types.ts";

const MAX_HITS = 20;

export async function searchTexts(
  { query, id }: z.infer<typeof INPUTS.search>,
  context: ToolContext,
): Promise<object> {
  const only = id === undefined ? {} : { session_id: (await findSession(context, id)).session_id };
  const { hits } = await context.manager.search({ query, ...only, limit: MAX_HITS });
  return { hits: hits.map(toBriefHit) };
}
