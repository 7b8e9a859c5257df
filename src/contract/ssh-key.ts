// SSH keys that instances let in. Document 3, SSH key; document 4, 1.13.
import { z } from "zod";
import { Timestamp, withDefault } from "./common.ts";
import { SshKeyScope } from "./scope.ts";
import { Description, ResourceName } from "./tenancy.ts";

/** A public key as it is shown. */
export const SshKey = z.object({
  id: z.string(),
  scope: SshKeyScope,
  name: z.string(),
  description: z.string(),
  public_key: z.string().describe("One line as OpenSSH writes it, with its comment"),
  fingerprint: z.string().describe("SHA256: and base64 without padding"),
  created_at: Timestamp,
});
export type SshKey = z.infer<typeof SshKey>;

/** The key is read as a whole where it is stored: whatever is wrong with it has the parser's words. */
export const SshKeyBody = z.strictObject({
  name: ResourceName,
  description: withDefault(Description, ""),
  public_key: z.string(),
});
export type SshKeyBody = z.infer<typeof SshKeyBody>;
