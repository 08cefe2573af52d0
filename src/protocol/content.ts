// The user's message and the content blocks inside messages, in the shape that Claude made common.
import * as z from "zod";

export const ContentBlock = z.looseObject({ type: z.string() });
export type ContentBlock = z.infer<typeof ContentBlock>;

/** Extra fields pass through: the backend owns their meaning (spec §5.5). */
export const UserMessage = z.looseObject({
  role: z.literal("user"),
  content: z.union([z.string(), z.array(ContentBlock)]),
});
export type UserMessage = z.infer<typeof UserMessage>;
