// The boot record of one admin-network MAC: the columns of table boot_record, tagged by state. Rescue is independent of
// the state. When the machine boots, rescue overrides the state.
import type { BootConsole, Networking, Provenance } from "../../src/contract/boot.ts";
import type { At } from "../engine/table.ts";

type RecordBase = {
  readonly mac: string;
  readonly provenance: Provenance;
  readonly rescue: boolean;
  readonly hostname: string | null;
  readonly kernel_args: readonly string[];
  readonly console: BootConsole | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

type Addressed = { readonly address: string; readonly networking: Networking };
type MaybeAddressed = Addressed | { readonly address: null; readonly networking: null };

export type BootRecordState =
  | (RecordBase & MaybeAddressed & {
    readonly state: "discovered";
    readonly server_uuid: null;
    readonly assigned_pi: string | null;
  })
  | (RecordBase & Addressed & {
    readonly state: "enrolling";
    /**
     * After a reset of the port's node, the UUID of that node: the port still belongs to the node, even if the node no
     * longer reports the port. Null without such a reset.
     */
    readonly server_uuid: string | null;
    readonly assigned_pi: string | null;
  })
  | (RecordBase & Addressed & {
    readonly state: "enrolled";
    readonly server_uuid: string;
    readonly assigned_pi: string;
  })
  | (RecordBase & MaybeAddressed & {
    readonly state: "decommissioned";
    readonly server_uuid: string | null;
    readonly assigned_pi: string | null;
  });

export type On<S extends BootRecordState["state"]> = At<BootRecordState, S>;
