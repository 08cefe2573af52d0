// Transcripts: conversations that agents keep on disk. Those that are no session of ours were started outside: they can
// be read, and continued as a session.
import * as z from "zod";
import { EventView } from "./views.ts";

export const TranscriptView = z.strictObject({
  /** The agent's own id. A session that continues the conversation has it too. */
  session_id: z.string(),
  backend: z.string(),
  /** The backend as session managers name it. */
  provider: z.string(),
  cwd: z.string().optional(),
  /** The directory of its repository, the main one for worktrees; else `cwd`. */
  project: z.string().optional(),
  model: z.string().optional(),
  /** The start of the user's first message. */
  title: z.string().optional(),
  last_active_at_ms: z.int(),
  size_bytes: z.int(),
  /** The process that has it open now, if known: it cannot be continued here meanwhile. */
  open_in_pid: z.int().optional(),
});
export type TranscriptView = z.infer<typeof TranscriptView>;

/** Most recently active first. */
export const TranscriptsReply = z.strictObject({
  transcripts: z.array(TranscriptView),
  /** There are more. */
  next: z.string().optional(),
});
export type TranscriptsReply = z.infer<typeof TranscriptsReply>;

/** As a page of a session's events. An event without `seq` ends a turn that the transcript leaves open. */
export const TranscriptPage = z.strictObject({
  events: z.array(EventView),
  /** Pass this as `since_seq` to continue. */
  next_seq: z.int(),
  /** The page reaches the end of the transcript. */
  is_end: z.boolean(),
});
export type TranscriptPage = z.infer<typeof TranscriptPage>;
