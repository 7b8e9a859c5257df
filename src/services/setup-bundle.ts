// Reads the bundle of a setup run. The secrets of the bundle are sealed in the record of the node until the first
// report of the run.
import type { Kysely } from "kysely";
import { findBundle } from "../../actors/cn/reads.ts";
import type { Mint } from "../auth/mint.ts";
import type { SetupBundle } from "../contract/setup.ts";
import type { Database } from "../db/tables.ts";
import type { Settings } from "./settings.ts";

export type SetupBundlePorts = {
  readonly kysely: Kysely<Database>;
  readonly mint: Mint;
  readonly settings: Settings;
};

/** Opens the bundle of the run with this epoch. Returns null if the run has ended or has reported. */
export async function openSetupBundle(
  { kysely, mint, settings }: SetupBundlePorts,
  { server_uuid, epoch }: { readonly server_uuid: string; readonly epoch: number },
): Promise<SetupBundle | null> {
  const bundle = await findBundle(kysely, server_uuid, epoch);
  if (bundle === null) return null;
  return {
    epoch,
    server_uuid,
    api_key: mint.openNodeKey(server_uuid, bundle.pending_credential),
    ...mint.openTickets(server_uuid, bundle.ticket_keys),
    layout: bundle.disk_layout,
    hostname: bundle.hostname,
    root_password_hash: bundle.root_password_hash,
    root_authorized_keys: await settings.rootAuthorizedKeys(),
    macs: [...bundle.macs],
  };
}
