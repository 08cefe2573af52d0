// The input of Claude Code's tool AskUserQuestion.
import * as z from "zod";

export const AskUserQuestion = z.looseObject({
  questions: z
    .array(
      z.looseObject({
        question: z.string().min(1),
        header: z.string().optional(),
        multiSelect: z.boolean().optional(),
        options: z.array(z.looseObject({ label: z.string(), description: z.string().optional() })).optional(),
      }),
    )
    .min(1),
});
