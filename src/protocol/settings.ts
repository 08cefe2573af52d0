// Settings that users change while a session exists: model, permission mode, effort; and the agent's own commands.
import * as z from "zod";

/** What is absent stays as it is. */
export const SettingsChange = z
  .strictObject({
    model: z.string().min(1).max(200).optional(),
    /** One of the agent's own modes: how much it may do without asking. */
    permission_mode: z.string().min(1).max(200).optional(),
    /** How long the model thinks. */
    effort: z.string().min(1).max(200).optional(),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    message: "expected model, permission_mode or effort",
  });
export type SettingsChange = z.infer<typeof SettingsChange>;

export const SettingValue = z.strictObject({
  value: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
});

export const Setting = z.strictObject({
  /** Absent: the agent has not said it. */
  current: z.string().optional(),
  /** What the agent offers; it may accept others. */
  values: z.array(SettingValue),
});
export type Setting = z.infer<typeof Setting>;

/** A command of the agent's own: a message may start with `/name`. */
export const AgentCommand = z.strictObject({
  name: z.string(),
  description: z.string().optional(),
  /** What may follow its name. */
  hint: z.string().optional(),
});
export type AgentCommand = z.infer<typeof AgentCommand>;

/** A setting that is absent cannot be changed now. */
export const Offers = z.strictObject({
  model: Setting.optional(),
  permission_mode: Setting.optional(),
  effort: Setting.optional(),
  commands: z.array(AgentCommand).optional(),
});
export type Offers = z.infer<typeof Offers>;

export const SettingsReply = z.strictObject({
  session_id: z.string(),
  /** Its agent is running. What is offered is known better then. */
  running: z.boolean(),
  ...Offers.shape,
});
export type SettingsReply = z.infer<typeof SettingsReply>;
