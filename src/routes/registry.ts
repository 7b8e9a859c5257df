// Adds the routes of all files that need only RouteDeps. src/wiring.ts adds the others.
import type { App, RouteDeps } from "./deps.ts";
import { agentRoutes } from "./agent.ts";
import { agentConsoleRoutes } from "./agent-console.ts";
import { agentJobRoutes } from "./agent-jobs.ts";
import { apiKeyRoutes } from "./api-keys.ts";
import { auditRoutes } from "./audit.ts";
import { bootPolicyRoutes } from "./boot-policy.ts";
import { booterRoutes } from "./booter.ts";
import { cnApprovalRoutes } from "./cn-approvals.ts";
import { cnBootRoutes } from "./cn-boot.ts";
import { cnSetupRoutes } from "./cn-setup.ts";
import { cnRoutes } from "./cns.ts";
import { configRoutes } from "./config.ts";
import { diskRoutes } from "./disks.ts";
import { externalSubnetRoutes } from "./external-subnets.ts";
import { firewallRuleRoutes } from "./firewall-rules.ts";
import { floatingIpBindingRoutes } from "./floating-ip-binding.ts";
import { floatingIpRoutes } from "./floating-ips.ts";
import { idpRoutes } from "./idps.ts";
import { imageUploadRoutes } from "./image-upload.ts";
import { imageRoutes } from "./images.ts";
import { instanceActionRoutes } from "./instance-actions.ts";
import { instanceConsoleRoutes } from "./instance-console.ts";
import { instanceRoutes } from "./instances.ts";
import { jobRoutes } from "./jobs.ts";
import { natGatewayRoutes } from "./nat-gateways.ts";
import { networkPoolRoutes } from "./network-pools.ts";
import { nicTagRoutes } from "./nic-tags.ts";
import { nicRoutes } from "./nics.ts";
import { operationRoutes } from "./operations.ts";
import { placementRoutes } from "./placement.ts";
import { projectRoutes } from "./projects.ts";
import { quotaRoutes } from "./quotas.ts";
import { registrationRoutes } from "./registration.ts";
import { routeTableRoutes } from "./route-tables.ts";
import { routeRoutes } from "./routes.ts";
import { sessionRoutes } from "./sessions.ts";
import { siloRoutes } from "./silos.ts";
import { sshKeyRoutes } from "./ssh-keys.ts";
import { subnetRoutes } from "./subnets.ts";
import { systemInstanceRoutes } from "./system-instances.ts";
import { tenantKeyRoutes } from "./tenant-keys.ts";
import { tenantRoutes } from "./tenants.ts";
import { userRoutes } from "./users.ts";
import { vpcRoutes } from "./vpcs.ts";

/** The functions that add routes, in the order of the API description. */
const ROUTES: readonly ((app: App, deps: RouteDeps) => void)[] = [
  cnRoutes,
  cnApprovalRoutes,
  cnSetupRoutes,
  placementRoutes,
  cnBootRoutes,
  bootPolicyRoutes,
  booterRoutes,
  registrationRoutes,
  agentRoutes,
  agentJobRoutes,
  agentConsoleRoutes,
  jobRoutes,
  apiKeyRoutes,
  sessionRoutes,
  userRoutes,
  configRoutes,
  auditRoutes,
  operationRoutes,
  siloRoutes,
  tenantRoutes,
  tenantKeyRoutes,
  idpRoutes,
  projectRoutes,
  quotaRoutes,
  natGatewayRoutes,
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
  imageRoutes,
  imageUploadRoutes,
  sshKeyRoutes,
  instanceRoutes,
  instanceActionRoutes,
  instanceConsoleRoutes,
  systemInstanceRoutes,
  diskRoutes,
  nicRoutes,
];

export function addRoutes(app: App, deps: RouteDeps): void {
  for (const add of ROUTES) add(app, deps);
}
