// The row of a floating IP.
import type { AddressFamily } from "../../src/contract/enums.ts";

export type FloatingIpState = {
  readonly state: "live";
  readonly id: string;
  readonly tenant_id: string;
  readonly project_id: string;
  readonly name: string;
  readonly description: string;
  readonly address: string;
  readonly family: AddressFamily;
  /** Where the address goes back to. */
  readonly pool_id: string;
  /** The external subnet it was taken from; null for the fixed pools. */
  readonly network_id: string | null;
  readonly external_nic_tag: string | null;
  /** The NIC it is bound to. */
  readonly attached_to: string | null;
  readonly attached_instance_id: string | null;
  readonly hosted_cn: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};
