// All actor kinds and sagas of this build, in no particular order.
import { apiKey } from "./api-key/transition.ts";
import type { ApiKeyMessage } from "./api-key/messages.ts";
import { bootPolicy, type BootPolicyMessage } from "./boot-policy/transition.ts";
import type { BootRecordMessage } from "./boot-record/messages.ts";
import { bootRecord } from "./boot-record/transition.ts";
import { bootRoster, type BootRosterMessage } from "./boot-roster/transition.ts";
import { cn } from "./cn/transition.ts";
import type { CnMessage } from "./cn/messages.ts";
import type { ConsoleSessionMessage } from "./console-session/messages.ts";
import { consoleSession } from "./console-session/transition.ts";
import type { AnyBehavior } from "./engine/types.ts";
import type { EnrolmentClaimMessage } from "./enrolment-claim/messages.ts";
import { enrolmentClaim } from "./enrolment-claim/transition.ts";
import { externalSubnet, type ExternalSubnetMessage } from "./external-subnet/transition.ts";
import { firewallRule, type FirewallRuleMessage } from "./firewall-rule/transition.ts";
import type { FloatingIpMessage } from "./floating-ip/messages.ts";
import { floatingIp } from "./floating-ip/transition.ts";
import { idp, type IdpMessage } from "./idp/transition.ts";
import { image, type ImageMessage } from "./image/transition.ts";
import { imageUpload, type ImageUploadMessage } from "./image-upload/transition.ts";
import type { InstanceMessage } from "./instance/messages.ts";
import { instance } from "./instance/transition.ts";
import { job } from "./job/transition.ts";
import type { JobMessage } from "./job/messages.ts";
import { placementGroup, type PlacementGroupMessage } from "./placement-group/transition.ts";
import { portForward, type PortForwardMessage } from "./port-forward/transition.ts";
import { natGateway, type NatGatewayMessage } from "./nat-gateway/transition.ts";
import { networkPool, type NetworkPoolMessage } from "./network-pool/transition.ts";
import { nicTag, type NicTagMessage } from "./nic-tag/transition.ts";
import { project, type ProjectMessage } from "./project/transition.ts";
import { quota, type QuotaMessage } from "./quota/transition.ts";
import { tenantQuota, type TenantQuotaMessage } from "./tenant-quota/transition.ts";
import { route, type RouteMessage } from "./route/transition.ts";
import { routeTable, type RouteTableMessage } from "./route-table/transition.ts";
import { sagaBehavior } from "./saga/transition.ts";
import type { SagaMessage } from "./saga/messages.ts";
import { cnDrain } from "./sagas/cn-drain.ts";
import { cnDrainLabel } from "./sagas/cn-drain-label.ts";
import { cnEvacuate } from "./sagas/cn-evacuate.ts";
import { cnSetup } from "./sagas/cn-setup.ts";
import { cnUpgrade } from "./sagas/cn-upgrade.ts";
import { cnUpgradeLabel } from "./sagas/cn-upgrade-label.ts";
import { diskChange } from "./sagas/disk-change.ts";
import { diskResize } from "./sagas/disk-resize.ts";
import { floatingIpAllocate } from "./sagas/floating-ip-allocate.ts";
import { floatingIpAttach } from "./sagas/floating-ip-attach.ts";
import { floatingIpDetach } from "./sagas/floating-ip-detach.ts";
import { imageCreate } from "./sagas/image-create.ts";
import { instanceCreate } from "./sagas/instance-create.ts";
import { instanceDelete } from "./sagas/instance-delete.ts";
import { instanceRebuild } from "./sagas/instance-rebuild.ts";
import { instanceMigrate } from "./sagas/instance-migrate.ts";
import { instanceEvacuate } from "./sagas/instance-evacuate.ts";
import { instanceLifecycle } from "./sagas/instance-lifecycle.ts";
import { natGatewayCreate } from "./sagas/nat-gateway-create.ts";
import { natGatewayDelete } from "./sagas/nat-gateway-delete.ts";
import { nodeJoin } from "./sagas/node-join.ts";
import { session, type SessionMessage } from "./session/transition.ts";
import { setting, type SettingMessage } from "./setting/transition.ts";
import { silo, type SiloMessage } from "./silo/transition.ts";
import { site, type SiteMessage } from "./site/transition.ts";
import { sshKey, type SshKeyMessage } from "./ssh-key/transition.ts";
import { staging, type StagingMessage } from "./staging/transition.ts";
import { subnet, type SubnetMessage } from "./subnet/transition.ts";
import { tenant, type TenantMessage } from "./tenant/transition.ts";
import type { UserMessage } from "./user/messages.ts";
import { user } from "./user/transition.ts";
import { vpc, type VpcMessage } from "./vpc/transition.ts";
import { webhook, type WebhookMessage } from "./webhook/transition.ts";

/** The messages of each kind. */
export type Messages = {
  readonly cn: CnMessage;
  readonly "enrolment-claim": EnrolmentClaimMessage;
  readonly site: SiteMessage;
  readonly "api-key": ApiKeyMessage;
  readonly setting: SettingMessage;
  readonly saga: SagaMessage;
  readonly job: JobMessage;
  readonly "boot-policy": BootPolicyMessage;
  readonly "boot-record": BootRecordMessage;
  readonly "boot-roster": BootRosterMessage;
  readonly staging: StagingMessage;
  readonly silo: SiloMessage;
  readonly tenant: TenantMessage;
  readonly project: ProjectMessage;
  readonly quota: QuotaMessage;
  readonly "tenant-quota": TenantQuotaMessage;
  readonly user: UserMessage;
  readonly session: SessionMessage;
  readonly idp: IdpMessage;
  readonly vpc: VpcMessage;
  readonly subnet: SubnetMessage;
  readonly "route-table": RouteTableMessage;
  readonly route: RouteMessage;
  readonly "firewall-rule": FirewallRuleMessage;
  readonly "nat-gateway": NatGatewayMessage;
  readonly "port-forward": PortForwardMessage;
  readonly "placement-group": PlacementGroupMessage;
  readonly "floating-ip": FloatingIpMessage;
  readonly "nic-tag": NicTagMessage;
  readonly "external-subnet": ExternalSubnetMessage;
  readonly "network-pool": NetworkPoolMessage;
  readonly image: ImageMessage;
  readonly "ssh-key": SshKeyMessage;
  readonly instance: InstanceMessage;
  readonly "console-session": ConsoleSessionMessage;
  readonly "image-upload": ImageUploadMessage;
  readonly webhook: WebhookMessage;
};

export const sagas = [
  nodeJoin,
  cnDrain,
  cnDrainLabel,
  cnEvacuate,
  cnSetup,
  cnUpgrade,
  cnUpgradeLabel,
  natGatewayCreate,
  natGatewayDelete,
  floatingIpAllocate,
  floatingIpAttach,
  floatingIpDetach,
  instanceCreate,
  instanceLifecycle,
  instanceDelete,
  diskChange,
  imageCreate,
  instanceMigrate,
  instanceEvacuate,
  instanceRebuild,
  diskResize,
];

export const behaviors: readonly AnyBehavior[] = [
  cn,
  enrolmentClaim,
  bootPolicy,
  bootRecord,
  bootRoster,
  staging,
  site,
  apiKey,
  setting,
  silo,
  tenant,
  project,
  quota,
  tenantQuota,
  user,
  session,
  idp,
  vpc,
  subnet,
  routeTable,
  route,
  firewallRule,
  natGateway,
  portForward,
  webhook,
  placementGroup,
  floatingIp,
  nicTag,
  externalSubnet,
  networkPool,
  image,
  sshKey,
  instance,
  consoleSession,
  imageUpload,
  job,
  sagaBehavior(sagas),
];

/** Kinds whose rows have deadlines. The background worker polls these rows. */
export const timedKinds: readonly string[] = [
  "cn",
  "enrolment-claim",
  "site",
  "job",
  "saga",
  "session",
  "console-session",
  "image-upload",
];
