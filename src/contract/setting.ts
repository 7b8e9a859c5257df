// Defines the schemas of a cluster setting.
import { z } from "zod";

/** A setting: its effective value and the source of the value. */
export const SettingView = z.object({
  key: z.string(),
  value: z.unknown(),
  default: z.unknown(),
  env_override: z.string().nullable().describe("The environment variable that overrides the stored value, or null"),
  restart_required: z.boolean(),
  description: z.string(),
});
export type SettingView = z.infer<typeof SettingView>;

/** The new value of a setting: any JSON, which the setting's own schema validates. */
export const SettingBody = z.strictObject({
  value: z.unknown().refine((value) => value !== undefined, "value is required"),
});
export type SettingBody = z.infer<typeof SettingBody>;
