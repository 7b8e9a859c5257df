// The conditions of a commit. This file declares the name, the arguments and the meaning of each guard and each effect.
// Each has a SQL function: guard_<name> for a guard, effect_<name> for an effect. The commit call checks all conditions
// of a choice (Choice in store.ts) before it applies any effect. So a decision may rely on its conditions, even if rows
// have changed since they were loaded.
import type { Fault } from "../../src/contract/fault.ts";
import type { Json } from "./types.ts";

/** A guard or an effect. `text` describes it. `Args` is the type of its arguments. */
type Definition<Args> = { readonly text: string; readonly args?: (args: Args) => void };

function define<Args>(text: string): Definition<Args> {
  return { text };
}

type Uuid = string;
type Node = { readonly server_uuid: Uuid };
/** The maximum number of waiting claims of the site, and of one source. */
type ClaimSlots = { readonly site_max: number; readonly source_max: number };
type Usage = {
  readonly cpu: number;
  readonly memory_bytes: number;
  readonly disk_bytes: number;
  readonly instances: number;
};
type Room = Node & { readonly cpu_units: number; readonly ram_mb: number; readonly disk_bytes: number };
/** The default of each limit of a quota; null for a limit without a default. */
type QuotaDefaults = Readonly<Record<string, number | null>>;

/** The guards: checks inside a commit. A guard returns true, false or the name of the obstacle. */
export const GUARDS = {
  // Nodes
  no_instance_on_cn: define<Node>("no instance is placed on the node"),
  no_reservation_on_cn: define<Node>("no placement reservation is in flight for the node"),
  no_migration_of_cn: define<Node>("no migration from or to the node is in flight"),
  no_active_cn: define<Node>("the node is neither approved nor being set up"),
  cn_is_not_draining: define<Node>("no drain or evacuation of the node is running"),
  cn_is_not_upgrading: define<Node & { readonly operation_id: Uuid }>(
    "no drain, evacuation or upgrade of the node is running or being rolled back, and no operation has the given id",
  ),
  operation_runs: define<{ readonly id: Uuid }>("the operation is running"),
  cn_is_approved: define<Node>("the node is approved"),
  cn_sends_fewer: define<Node & { readonly migrations_max: number }>(
    "fewer than migrations_max migrations from the node are in flight",
  ),
  cn_is_silent: define<Node & { readonly live_s: number }>("the node sent no heartbeat in the last live_s seconds"),
  cn_is_live: define<Node & { readonly live_s: number }>("the node sent a heartbeat in the last live_s seconds"),
  cn_has_room: define<
    & Room
    & { readonly tenant_id?: Uuid; readonly silo_id?: Uuid; readonly role?: string }
    & { readonly grows?: true; readonly cpu?: number }
  >(
    "the given amounts of CPU, memory and disk are free on the node, the node has at least as many processors as the " +
      "instance has vCPUs, and the node accepts instances of the tenant",
  ),
  cn_offers_nic_tag: define<Node & { readonly nic_tag: string }>("the node reports the NIC tag"),
  status_is_last: define<Node & { readonly status_id: Uuid }>("the status report is the newest of the node"),
  pin_holds: define<{ readonly pinned_silo_uuid: Uuid | null; readonly pinned_tenant_uuid: Uuid | null }>(
    "the silo and the tenant of the pin exist, and the tenant is in the silo",
  ),
  // Enrolment and booting
  claims_are_counted: define<{ readonly source_bucket: string } & ClaimSlots>(
    "locks the budgets of claims, and creates a budget that is missing; always holds",
  ),
  unproven_are_counted: define<{ readonly max: number }>(
    "locks the budget of unproven nodes, and creates it if it is missing; always holds",
  ),
  node_has_room_for_claim: define<Node & { readonly max: number }>("the node has fewer than max live claims"),
  is_last_claim: define<Node & { readonly id: Uuid }>("the node has no other claim"),
  enrolment_window_is_open: define<Readonly<Record<never, never>>>("the auto-approve window is open"),
  enrollment_pi_is_staged: define<Readonly<Record<never, never>>>("the boot policy's enrolment image is staged"),
  boot_policy_is: define<{ readonly version: number }>("the boot policy still has this version"),
  // Tenancy
  silos_exist: define<{ readonly silos: readonly Uuid[] }>("the silos exist"),
  silo_is_empty: define<{ readonly silo_id: Uuid }>("nothing belongs to the silo except its default tenant"),
  silo_is_not_named: define<{ readonly silo_id: Uuid }>(
    "no external subnet, no network pool and no node's pin names the silo, and no node's pin names its default tenant",
  ),
  tenant_is_no_default: define<{ readonly tenant_id: Uuid }>("the tenant is not its silo's default tenant"),
  tenant_is_empty: define<{ readonly tenant_id: Uuid }>("nothing belongs to the tenant"),
  project_is_empty: define<{ readonly project_id: Uuid }>("nothing belongs to the project"),
  project_has_webhook_room: define<{ readonly project_id: Uuid; readonly max: number }>(
    "the project has fewer than max webhooks",
  ),
  webhook_delivery_exists: define<{ readonly webhook_id: Uuid; readonly id: Uuid }>("the webhook has the delivery"),
  user_owns_no_key: define<{ readonly user_id: Uuid }>("the user owns no key"),
  image_upload_fits: define<{ readonly tenant_id: Uuid; readonly size_bytes: number; readonly max: number }>(
    "the tenant's uploaded images and open uploads, including this one, have at most max bytes",
  ),
  quota_has_room: define<{ readonly project_id: Uuid; readonly defaults: QuotaDefaults } & Usage>(
    "the project's quota covers the usage",
  ),
  tenant_quota_has_room: define<{ readonly tenant_id: Uuid; readonly defaults: QuotaDefaults } & Usage>(
    "the tenant's quota covers the usage",
  ),
  // Instances and images
  image_exists: define<{ readonly image_id: Uuid }>("the image exists"),
  image_is_unused: define<{ readonly image_id: Uuid }>("no instance uses the image"),
  instance_stays: define<{ readonly instance_id: Uuid }>("no migration of the instance is in flight"),
  disk_is_at_rest: define<{ readonly disk_id: Uuid }>("no resize of the disk is in flight"),
  // Networks
  vni_is_free: define<{ readonly vni: number }>(
    "no VPC has the VNI, and no node can still have a deleted VPC with this VNI",
  ),
  firewall_rules_are: define<{ readonly vpc_id: Uuid; readonly tag: string }>(
    "the firewall rules of the VPC still have this tag",
  ),
  vpc_is_empty: define<{ readonly vpc_id: Uuid }>("nothing belongs to the VPC except its main route table"),
  subnet_block_is_free: define<{ readonly vpc_id: Uuid; readonly block: string }>(
    "the block overlaps no subnet of the VPC",
  ),
  subnet_is_empty: define<{ readonly subnet_id: Uuid }>("the subnet has no NIC"),
  route_table_is_unused: define<{ readonly route_table_id: Uuid }>(
    "the route table has no route, and no subnet uses it",
  ),
  nat_gateway_is_unused: define<{ readonly id: Uuid }>("no route leads to the NAT gateway"),
  nat_gateway_has_no_forward: define<{ readonly id: Uuid }>("the NAT gateway has no port forward"),
  nat_gateway_has_room: define<{ readonly id: Uuid; readonly max: number }>(
    "the NAT gateway has fewer than max port forwards",
  ),
  placement_group_is_empty: define<{ readonly id: Uuid }>("no instance is in the placement group"),
  placement_group_allows: define<
    Node & { readonly placement_group_id: Uuid; readonly instance_id: Uuid; readonly leaves: Uuid | null }
  >("the placement group of the instance allows the node"),
  floating_ips_rest: define<{ readonly instance_id: Uuid }>("no operation on the instance's floating IPs is in flight"),
  floating_ip_is_off_nodes: define<{ readonly floating_ip_id: Uuid }>("no node can still answer for the floating IP"),
  floating_ip_is_released: define<
    Node & { readonly floating_ip_id: Uuid; readonly nic_id: Uuid; readonly live_s: number }
  >(
    "no live node other than the given one can still answer for the floating IP, and no live node still releases it " +
      "from the NIC",
  ),
  nic_is_unused: define<{ readonly nic_id: Uuid }>(
    "no floating IP and no port forward leads to the NIC, and no floating IP is leaving it",
  ),
  nic_blocks_are_apart: define<{ readonly vpc_id: Uuid; readonly nic_id: Uuid; readonly blocks: readonly string[] }>(
    "the blocks overlap no allowed block of another NIC of the VPC",
  ),
  nic_tag_exists: define<{ readonly name: string }>("the NIC tag exists"),
  nic_tag_is_unused: define<{ readonly name: string }>("nothing uses the NIC tag"),
  external_subnet_is_apart: define<{ readonly ipv4_block: string | null; readonly ipv6_block: string | null }>(
    "no block overlaps an external subnet, and a block overlaps a fixed pool only if it is the pool's whole block",
  ),
  external_subnet_is_unused: define<{ readonly id: Uuid }>(
    "nothing uses the external subnet, and the guard external_subnet_is_off_nodes holds",
  ),
  external_subnet_is_off_nodes: define<{ readonly id: Uuid }>(
    "no node can still answer for an address that a deleted NAT gateway had from the external subnet's own pools",
  ),
  external_subnets_exist: define<{ readonly networks: readonly Uuid[] }>("the external subnets exist"),
  cn_may_host_gateway: define<
    Node & { readonly nic_tag: string; readonly live_s: number; readonly gateway_id: Uuid }
  >(
    "the node is a live edge node that is not cordoned and reports a bridge of the NIC tag, and runs no gateway of the " +
      "same VPC with another external network",
  ),
  external_network_is_offered: define<
    { readonly network_id: Uuid; readonly silo_id: Uuid | null; readonly network_pool_id: Uuid | null }
  >("the silo may use the external subnet, and the network pool if one is given"),
} satisfies Readonly<Record<string, Definition<never>>>;

/** The effects: changes inside a commit. They run if all conditions of the choice hold. */
export const EFFECTS = {
  cn_use: define<Room & { readonly instances: number }>("adds to the counted use of the node"),
  quota_use: define<{ readonly project_id: Uuid } & Usage>("adds to the counted use of the project and of its tenant"),
  end_claims: define<Node & { readonly except: Uuid | null } & ClaimSlots>(
    "ends the node's claims, but not the claim with the id `except`",
  ),
  claim_ended: define<{ readonly source_bucket: string } & ClaimSlots>("frees the slot of a claim"),
  unproven_ended: define<{ readonly max: number }>("frees the slot of an unproven node"),
  rebuild_admin_pool: define<Json>("makes the pool of admin addresses match the boot policy"),
  nics_changed: define<{ readonly nic_ids: readonly Uuid[] }>("increases the generation of the VPCs of the NICs"),
  cn_network_changed: define<Node>("increases the generation of the VPCs of the node"),
  external_network_changed: define<{ readonly ipv4_block: string | null; readonly ipv6_block: string | null }>(
    "increases the generation of the VPCs that use an address in the blocks",
  ),
  webhook_queued: define<{ readonly webhook_id: Uuid; readonly ends_pause: boolean }>(
    "lets the webhook send its waiting deliveries",
  ),
  webhook_redelivered: define<{ readonly webhook_id: Uuid; readonly id: Uuid }>(
    "lets the webhook send the delivery again",
  ),
  vpc_routes_gone: define<{ readonly vpc_id: Uuid }>("deletes the routes of the VPC"),
} satisfies Readonly<Record<string, Definition<never>>>;

type ArgsOf<D> = D extends Definition<infer Args> ? Args : never;
/** The name of a guard. */
export type GuardName = keyof typeof GUARDS;
/** The arguments of a guard. */
export type GuardArgs<N extends GuardName> = ArgsOf<(typeof GUARDS)[N]>;
/** The name of an effect. */
export type EffectName = keyof typeof EFFECTS;
/** The arguments of an effect. */
export type EffectArgs<N extends EffectName> = ArgsOf<(typeof EFFECTS)[N]>;

/** A range of offsets of a pool, from `low` to `high`, both included. */
export type Offsets = { readonly low: number; readonly high: number };

/**
 * A condition of a decision. If a guard, a take or an allocate does not hold, the choice is refused with the fault of
 * this condition. Conditions of the other kinds always hold.
 */
export type Condition =
  /** Holds if the guard returns true. */
  | { readonly part: "guard"; readonly name: string; readonly args: Json; readonly fault: Fault }
  /**
   * Holds if the budget has not expired, and is unlimited or has at least `amount` left. The commit subtracts the
   * amount.
   */
  | { readonly part: "take"; readonly budget: string; readonly amount: number; readonly fault: Fault }
  /** Adds `amount` to the budget. */
  | { readonly part: "give"; readonly budget: string; readonly amount: number }
  /**
   * Holds if the pool has a free value at these offsets. The commit takes the lowest free value and puts it in place of
   * the token.
   */
  | {
    readonly part: "allocate";
    readonly pool: string;
    readonly token: string;
    readonly fault: Fault;
    readonly low?: number;
    readonly high?: number;
  }
  /** Gives the value back to the pool. */
  | { readonly part: "release"; readonly pool: string; readonly value: string }
  /** Runs the effect. */
  | { readonly part: "effect"; readonly name: string; readonly args: Json }
  /**
   * Holds the lock until the commit ends. A counted lock protects only budgets, pools and counters. It excludes other
   * calls, as an exclusive lock does, but several units of one call can hold it in the same wave (waves.ts).
   */
  | { readonly part: "lock"; readonly key: string; readonly shared: boolean; readonly counted?: true };

/** A condition in the form of the commit call: the field `do` has the kind of the condition. */
export type CallCondition = {
  readonly [P in Condition["part"]]: { readonly do: P } & Omit<Extract<Condition, { part: P }>, "part">;
}[Condition["part"]];

/** Returns the condition in the form of the commit call. */
export function callCondition({ part, ...rest }: Condition): CallCondition {
  return { do: part, ...rest } as CallCondition;
}
