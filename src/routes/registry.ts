// Adds the routes that need only RouteDeps. src/wiring.ts adds the other routes.
import type { App, RouteDeps } from "./deps.ts";
import { agentRoutes } from "./agent.ts";
import { agentConsoleRoutes } from "./agent-console.ts";
import { agentJobRoutes } from "./agent-jobs.ts";
import { agentNetworkRoutes } from "./agent-network.ts";
import { agentPollRoutes } from "./agent-poll.ts";
import { apiKeyRoutes } from "./api-keys.ts";
import { auditRoutes } from "./audit.ts";
import { bootPolicyRoutes } from "./boot-policy.ts";
import { booterRoutes } from "./booter.ts";
import { booterHandoverRoutes } from "./booter-handover.ts";
import { capacityRoutes } from "./capacity.ts";
import { changeRoutes } from "./changes.ts";
import { cnApprovalRoutes } from "./cn-approvals.ts";
import { cnBootRoutes } from "./cn-boot.ts";
import { cnHardwareRoutes } from "./cn-hardware.ts";
import { cnSetupRoutes } from "./cn-setup.ts";
import { cnRoutes } from "./cns.ts";
import { configRoutes } from "./config.ts";
import { dataDiskRoutes } from "./data-disks.ts";
import { diskRoutes } from "./disks.ts";
import { externalSubnetRoutes } from "./external-subnets.ts";
import { firewallRuleRoutes } from "./firewall-rules.ts";
import { floatingIpBindingRoutes } from "./floating-ip-binding.ts";
import { floatingIpRoutes } from "./floating-ips.ts";
import { idpRoutes } from "./idps.ts";
import { agentImageUploadRoutes } from "./agent-image-upload.ts";
import { imageUploadRoutes } from "./image-upload.ts";
import { imageRoutes } from "./images.ts";
import { instanceActionRoutes } from "./instance-actions.ts";
import { instanceConsoleRoutes } from "./instance-console.ts";
import { instanceMigrateRoutes } from "./instance-migrate.ts";
import { instanceRebuildRoutes } from "./instance-rebuild.ts";
import { instanceMetricsRoutes } from "./instance-metrics.ts";
import { instanceScreenshotRoutes } from "./instance-screenshot.ts";
import { instanceRoutes } from "./instances.ts";
import { jobRoutes } from "./jobs.ts";
import { natGatewayRoutes } from "./nat-gateways.ts";
import { placementGroupRoutes } from "./placement-groups.ts";
import { portForwardRoutes } from "./port-forwards.ts";
import { webhookRoutes } from "./webhooks.ts";
import { networkPoolRoutes } from "./network-pools.ts";
import { networkTraceRoutes } from "./network-trace.ts";
import { nicChangeRoutes } from "./nic-changes.ts";
import { nicTagRoutes } from "./nic-tags.ts";
import { nicRoutes } from "./nics.ts";
import { nodeDiagnosisRoutes } from "./node-diagnosis.ts";
import { nodeRoutes } from "./nodes.ts";
import { operationRoutes } from "./operations.ts";
import { ownSessionRoutes } from "./own-sessions.ts";
import { cnDrainRoutes } from "./cn-drain.ts";
import { cnDrainLabelRoutes } from "./cn-drain-label.ts";
import { cnEvacuateRoutes } from "./cn-evacuate.ts";
import { cnUpgradeLabelRoutes } from "./cn-upgrade-label.ts";
import { placementRoutes } from "./placement.ts";
import { projectRoutes } from "./projects.ts";
import { quotaRoutes } from "./quotas.ts";
import { registrationRoutes } from "./registration.ts";
import { routeTableRoutes } from "./route-tables.ts";
import { routeRoutes } from "./routes.ts";
import { searchRoutes } from "./search.ts";
import { sessionRoutes } from "./sessions.ts";
import { snapshotImageRoutes } from "./snapshot-image.ts";
import { snapshotRoutes } from "./snapshots.ts";
import { siloRoutes } from "./silos.ts";
import { sshKeyRoutes } from "./ssh-keys.ts";
import { subnetRoutes } from "./subnets.ts";
import { systemInstanceRoutes } from "./system-instances.ts";
import { tenantKeyRoutes } from "./tenant-keys.ts";
import { tenantRoutes } from "./tenants.ts";
import { usageRoutes } from "./usage.ts";
import { userRoutes } from "./users.ts";
import { vpcFirewallRoutes } from "./vpc-firewall.ts";
import { vpcRoutes } from "./vpcs.ts";
import { oidcRoutes } from "./oidc.ts";
import { webSessionRoutes } from "./web-session.ts";

/** The functions that add routes, in the order of the API description. */
const ROUTES: readonly ((app: App, deps: RouteDeps) => void)[] = [
  cnRoutes,
  nodeRoutes,
  capacityRoutes,
  cnApprovalRoutes,
  cnSetupRoutes,
  cnDrainRoutes,
  cnDrainLabelRoutes,
  cnUpgradeLabelRoutes,
  cnEvacuateRoutes,
  placementRoutes,
  cnBootRoutes,
  cnHardwareRoutes,
  bootPolicyRoutes,
  booterRoutes,
  booterHandoverRoutes,
  registrationRoutes,
  agentRoutes,
  agentJobRoutes,
  agentNetworkRoutes,
  agentPollRoutes,
  agentConsoleRoutes,
  jobRoutes,
  apiKeyRoutes,
  sessionRoutes,
  ownSessionRoutes,
  webSessionRoutes,
  oidcRoutes,
  userRoutes,
  configRoutes,
  auditRoutes,
  nodeDiagnosisRoutes,
  operationRoutes,
  changeRoutes,
  searchRoutes,
  siloRoutes,
  tenantRoutes,
  tenantKeyRoutes,
  idpRoutes,
  projectRoutes,
  quotaRoutes,
  usageRoutes,
  natGatewayRoutes,
  portForwardRoutes,
  webhookRoutes,
  floatingIpRoutes,
  floatingIpBindingRoutes,
  nicTagRoutes,
  externalSubnetRoutes,
  networkPoolRoutes,
  vpcRoutes,
  subnetRoutes,
  routeTableRoutes,
  routeRoutes,
  firewallRuleRoutes,
  vpcFirewallRoutes,
  imageRoutes,
  imageUploadRoutes,
  agentImageUploadRoutes,
  sshKeyRoutes,
  placementGroupRoutes,
  instanceRoutes,
  instanceActionRoutes,
  instanceConsoleRoutes,
  instanceMetricsRoutes,
  instanceMigrateRoutes,
  instanceRebuildRoutes,
  instanceScreenshotRoutes,
  systemInstanceRoutes,
  networkTraceRoutes,
  diskRoutes,
  dataDiskRoutes,
  snapshotRoutes,
  snapshotImageRoutes,
  nicRoutes,
  nicChangeRoutes,
];

export function addRoutes(app: App, deps: RouteDeps): void {
  for (const add of ROUTES) add(app, deps);
}
