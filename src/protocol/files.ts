// Files of a session's directory, for completion in composers.
import * as z from "zod";

export const FoundFile = z.strictObject({
  /** Relative to the session's directory. */
  path: z.string(),
  is_directory: z.literal(true).optional(),
});
export type FoundFile = z.infer<typeof FoundFile>;

export const FilesReply = z.strictObject({
  session_id: z.string(),
  /** Best matches first. Files that git ignores are left out. */
  files: z.array(FoundFile),
  /** The directory has more files than were searched. */
  is_cut: z.literal(true).optional(),
  /** Why there are none: the session has no directory, or it no longer exists. */
  reason: z.string().optional(),
});
export type FilesReply = z.infer<typeof FilesReply>;
