// The user's message and the content blocks of messages, in Claude's format.
import * as z from "zod";

export const ContentBlock = z.looseObject({ type: z.string() });
export type ContentBlock = z.infer<typeof ContentBlock>;

/** Extra fields are passed through: the backend defines their meaning. */
export const UserMessage = z.looseObject({
  role: z.literal("user"),
  content: z.union([z.string(), z.array(ContentBlock)]),
});
export type UserMessage = z.infer<typeof UserMessage>;
