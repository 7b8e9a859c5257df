// Cluster settings. Document 4, section 7.
import { z } from "zod";

/** A setting: its value as it holds now, and where that comes from. */
export const SettingView = z.object({
  key: z.string(),
  value: z.unknown(),
  default: z.unknown(),
  env_override: z.string().nullable().describe("The environment variable that shadows the stored value, or null"),
  restart_required: z.boolean(),
  description: z.string(),
});
export type SettingView = z.infer<typeof SettingView>;

/** Any JSON; the setting's own schema judges it. */
export const SettingBody = z.strictObject({
  value: z.unknown().refine((value) => value !== undefined, "value is required"),
});
export type SettingBody = z.infer<typeof SettingBody>;
