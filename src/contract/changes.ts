// Defines the schema of the feed of changes.
import { z } from "zod";

/** The objects that changed after a cursor. */
export const Changes = z.object({
  cursor: z.string().describe("Send it as `after` in the next request"),
  refs: z.array(z.object({
    kind: z.string().describe("The kind of the object, such as instance, floating-ip, or saga for an operation"),
    id: z.string(),
  })),
  reset: z.boolean().describe("True if changes are missing: read everything again"),
});
export type Changes = z.infer<typeof Changes>;
