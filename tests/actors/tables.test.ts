// Stores the transition tables as text, so that a reviewer sees each changed behaviour as a changed line.
import { expect, test } from "vitest";
import { apiKeyTable } from "../../actors/api-key/transition.ts";
import { bootPolicyTable } from "../../actors/boot-policy/transition.ts";
import { bootRecordTable } from "../../actors/boot-record/transition.ts";
import { bootRoster } from "../../actors/boot-roster/transition.ts";
import { consoleSessionTable } from "../../actors/console-session/transition.ts";
import { cnTable } from "../../actors/cn/transition.ts";
import { printTable } from "../../actors/engine/table.ts";
import { enrolmentClaimTable } from "../../actors/enrolment-claim/transition.ts";
import { externalSubnet } from "../../actors/external-subnet/transition.ts";
import { firewallRule } from "../../actors/firewall-rule/transition.ts";
import { floatingIpTable } from "../../actors/floating-ip/transition.ts";
import { idp } from "../../actors/idp/transition.ts";
import { image } from "../../actors/image/transition.ts";
import { imageUploadTable } from "../../actors/image-upload/transition.ts";
import { instanceTable } from "../../actors/instance/transition.ts";
import { jobTable } from "../../actors/job/transition.ts";
import { behaviors, sagas } from "../../actors/registry.ts";
import { placementGroup } from "../../actors/placement-group/transition.ts";
import { portForward } from "../../actors/port-forward/transition.ts";
import { webhook } from "../../actors/webhook/transition.ts";
import { natGateway } from "../../actors/nat-gateway/transition.ts";
import { networkPool } from "../../actors/network-pool/transition.ts";
import { nicTag } from "../../actors/nic-tag/transition.ts";
import { project } from "../../actors/project/transition.ts";
import { quota } from "../../actors/quota/transition.ts";
import { route } from "../../actors/route/transition.ts";
import { routeTable } from "../../actors/route-table/transition.ts";
import { sagaTable } from "../../actors/saga/transition.ts";
import { sessionTable } from "../../actors/session/transition.ts";
import { setting } from "../../actors/setting/transition.ts";
import { silo } from "../../actors/silo/transition.ts";
import { siteTable } from "../../actors/site/transition.ts";
import { sshKey } from "../../actors/ssh-key/transition.ts";
import { staging } from "../../actors/staging/transition.ts";
import { subnet } from "../../actors/subnet/transition.ts";
import { tenantQuota } from "../../actors/tenant-quota/transition.ts";
import { tenant } from "../../actors/tenant/transition.ts";
import { userTable } from "../../actors/user/transition.ts";
import { vpc } from "../../actors/vpc/transition.ts";

const TABLES = {
  cn: cnTable,
  "enrolment-claim": enrolmentClaimTable,
  "console-session": consoleSessionTable,
  "image-upload": imageUploadTable,
  site: siteTable,
  "api-key": apiKeyTable,
  setting: setting.transitions,
  job: jobTable,
  saga: sagaTable(sagas),
  "boot-policy": bootPolicyTable,
  "boot-record": bootRecordTable,
  "boot-roster": bootRoster.transitions,
  staging: staging.transitions,
  silo: silo.transitions,
  user: userTable,
  session: sessionTable,
  idp: idp.transitions,
  tenant: tenant.transitions,
  project: project.transitions,
  quota: quota.transitions,
  "tenant-quota": tenantQuota.transitions,
  vpc: vpc.transitions,
  subnet: subnet.transitions,
  "route-table": routeTable.transitions,
  route: route.transitions,
  "firewall-rule": firewallRule.transitions,
  "nat-gateway": natGateway.transitions,
  "port-forward": portForward.transitions,
  webhook: webhook.transitions,
  "placement-group": placementGroup.transitions,
  "floating-ip": floatingIpTable,
  "nic-tag": nicTag.transitions,
  "external-subnet": externalSubnet.transitions,
  "network-pool": networkPool.transitions,
  image: image.transitions,
  "ssh-key": sshKey.transitions,
  instance: instanceTable,
};

test.each(Object.entries(TABLES))("the table of %s", (_kind, table) => {
  expect(printTable(table)).toMatchSnapshot();
});

test("TABLES contains the table of every actor kind", () => {
  expect(Object.keys(TABLES).sort()).toEqual(behaviors.map(({ kind }) => kind).sort());
});
