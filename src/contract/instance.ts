// Instances, as far as operators see them on a node. Document 3, Instance.
import { z } from "zod";
import { INSTANCE_STATES } from "./enums.ts";

export const PlacedInstance = z.object({
  id: z.string(),
  host_cn_uuid: z.string().nullable(),
  lifecycle: z.object({ state: z.enum(INSTANCE_STATES) }),
});
export type PlacedInstance = z.infer<typeof PlacedInstance>;
