// The reply to each type of message, by kind. By default a reply is the view of the written state. The type leaves out
// messages whose replies no sender reads.
import type { ApiKeyView } from "../src/contract/api-key.ts";
import type { BootPolicy, BootRecord, Roster } from "../src/contract/boot.ts";
import type { AutoApproveWindow, CnReservoirView, CnView } from "../src/contract/cn.ts";
import type { CnPlacement } from "../src/contract/cn-placement.ts";
import type { DrainStarted, EvacuateStarted } from "../src/contract/drain.ts";
import type { ExternalSubnet, NetworkPool, NicTag } from "../src/contract/external-network.ts";
import type { Idp, User } from "../src/contract/identity.ts";
import type { Image } from "../src/contract/image.ts";
import type { ImageUpload } from "../src/contract/image-upload.ts";
import type { Disk, DiskResized, Instance, Nic } from "../src/contract/instance.ts";
import type { PlacementGroup } from "../src/contract/placement-group.ts";
import type { PortForward } from "../src/contract/port-forward.ts";
import type { Webhook } from "../src/contract/webhook.ts";
import type { FirewallRule, FloatingIp, NatGateway, Route, RouteTable, Subnet, Vpc } from "../src/contract/network.ts";
import type { SetupBundle, Traits } from "../src/contract/setup.ts";
import type { Snapshot } from "../src/contract/snapshot.ts";
import type { SshKey } from "../src/contract/ssh-key.ts";
import type { Project, Quota, Silo, Tenant, TenantQuota } from "../src/contract/tenancy.ts";
import type { ConsoleSessionView } from "./console-session/state.ts";
import type { MadeImage } from "./image-upload/state.ts";
import type { RegistrationReply } from "./enrolment-claim/state.ts";
import type { SessionView } from "./session/transition.ts";

type Created<View> = { readonly create: View };
type Edited<View> = Created<View> & { readonly update: View };

export type Replies = {
  readonly cn: {
    readonly join: RegistrationReply;
    readonly refresh: RegistrationReply;
    readonly approve: CnView;
    readonly disable: CnView;
    readonly enable: CnView;
    readonly set_role: CnView;
    readonly set_underlay: CnView;
    readonly set_reservoir: CnReservoirView;
    readonly set_traits: Traits;
    readonly set_placement: CnPlacement;
    readonly set_root_password: CnView;
    readonly drain: DrainStarted;
    readonly evacuate: EvacuateStarted;
    /** If the announcement contradicts the record, the reply has only the conflict. */
    readonly announce: CnView | { readonly conflict: string };
    readonly approve_setup: CnView;
    /** The rest of the bundle is secret, so no reply contains it: the route reads it from the record. */
    readonly take_bundle: Pick<SetupBundle, "epoch">;
    readonly setup_delivered: CnView;
    /** The reply leaves out the rest of the bundle, as for take_bundle. */
    readonly hand_over_bundle: Pick<SetupBundle, "epoch">;
    readonly setup_progressed: CnView;
    readonly setup_completed: CnView;
    readonly setup_failed: CnView;
    readonly factory_reset: CnView;
  };
  readonly "enrolment-claim": { readonly register: RegistrationReply; readonly renew: RegistrationReply };
  readonly site: { readonly open_window: AutoApproveWindow };
  readonly "api-key": Created<ApiKeyView>;
  readonly "boot-policy": { readonly put: { readonly policy: BootPolicy; readonly version: number } };
  readonly "boot-record": {
    readonly seen: BootRecord;
    readonly authorize: BootRecord;
    readonly reactivate: BootRecord;
    readonly rescue: BootRecord;
    readonly assign: BootRecord;
    readonly set_arguments: BootRecord;
    readonly decommission: BootRecord;
  };
  readonly "boot-roster": { readonly set: Roster };
  readonly silo: Edited<Silo>;
  readonly tenant: Edited<Tenant>;
  readonly project: Edited<Project>;
  /** The route adds the usage, which is counted outside of the record. */
  readonly quota: { readonly set: Omit<Quota, "used"> };
  readonly "tenant-quota": { readonly set: Omit<TenantQuota, "used"> };
  readonly user: Created<User> & {
    readonly set_password: User;
    readonly grant: User;
    readonly revoke_capability: User;
  };
  /** Null if the refresh ended the session, because the refresh token or the session was too old. */
  readonly session: Created<SessionView> & { readonly refresh: SessionView | null };
  readonly idp: { readonly set: Idp };
  readonly vpc: Edited<Vpc> & { readonly replace_firewall: Vpc };
  readonly subnet: Edited<Subnet> & { readonly use_route_table: Subnet };
  readonly "route-table": Edited<RouteTable>;
  readonly route: Edited<Route>;
  readonly "firewall-rule": Edited<FirewallRule>;
  readonly "nat-gateway": Edited<NatGateway>;
  readonly "port-forward": Edited<PortForward>;
  readonly webhook: Edited<Webhook> & {
    readonly test: { readonly id: string };
    readonly redeliver: { readonly id: string };
  };
  readonly "placement-group": Edited<PlacementGroup>;
  readonly "floating-ip": Edited<FloatingIp>;
  readonly "nic-tag": Created<NicTag>;
  readonly "external-subnet": Edited<ExternalSubnet>;
  readonly "network-pool": Created<NetworkPool> & { readonly replace: NetworkPool };
  readonly image: Edited<Image>;
  readonly "ssh-key": Created<SshKey>;
  readonly "console-session": { readonly issue: ConsoleSessionView; readonly read: ConsoleSessionView };
  readonly "image-upload": Created<ImageUpload> & {
    readonly receive: ImageUpload;
    /** A reply that a process of an earlier release stored has no image. */
    readonly finish: { readonly image_id: string; readonly image?: MadeImage };
  };
  readonly instance: {
    readonly update: Instance;
    readonly resize_disk: DiskResized;
    readonly update_disk: Disk;
    readonly update_snapshot: Snapshot;
    readonly create_nic: Nic;
    readonly update_nic: Nic;
  };
};
