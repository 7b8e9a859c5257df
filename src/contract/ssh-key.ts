// Defines the schemas of SSH keys, with which users log in to instances.
import { z } from "zod";
import { Timestamp, withDefault } from "./common.ts";
import { Labels, NewLabels } from "./labels.ts";
import { SshKeyScope } from "./scope.ts";
import { Description, ResourceName } from "./tenancy.ts";

/** A public SSH key. */
export const SshKey = z.object({
  id: z.string(),
  scope: SshKeyScope,
  name: z.string(),
  description: z.string(),
  labels: Labels,
  public_key: z.string().describe("One line in OpenSSH format, with its comment"),
  fingerprint: z.string().describe("SHA256: and base64 without padding"),
  created_at: Timestamp,
});
export type SshKey = z.infer<typeof SshKey>;

/** The body that creates a key. The route parses the key, so that the error for a bad key explains the problem. */
export const SshKeyBody = z.strictObject({
  name: ResourceName,
  description: withDefault(Description, ""),
  labels: withDefault(NewLabels, {}),
  public_key: z.string(),
});
export type SshKeyBody = z.infer<typeof SshKeyBody>;
