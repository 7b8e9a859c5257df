// The transition tables as text, for a reviewer to read: a change of behaviour shows as a changed line.
import { expect, test } from "vitest";
import { apiKeyTable } from "../../actors/api-key/transition.ts";
import { bootPolicyTable } from "../../actors/boot-policy/transition.ts";
import { bootRecordTable } from "../../actors/boot-record/transition.ts";
import { bootRosterTable } from "../../actors/boot-roster/transition.ts";
import { cnTable } from "../../actors/cn/transition.ts";
import { printTable } from "../../actors/engine/table.ts";
import { jobTable } from "../../actors/job/transition.ts";
import { behaviors, sagas } from "../../actors/registry.ts";
import { projectTable } from "../../actors/project/transition.ts";
import { quotaTable } from "../../actors/quota/transition.ts";
import { sagaTable } from "../../actors/saga/transition.ts";
import { settingTable } from "../../actors/setting/transition.ts";
import { siloTable } from "../../actors/silo/transition.ts";
import { siteTable } from "../../actors/site/transition.ts";
import { stagingTable } from "../../actors/staging/transition.ts";
import { tenantTable } from "../../actors/tenant/transition.ts";

const TABLES = {
  cn: cnTable,
  site: siteTable,
  "api-key": apiKeyTable,
  setting: settingTable,
  job: jobTable,
  saga: sagaTable(sagas),
  "boot-policy": bootPolicyTable,
  "boot-record": bootRecordTable,
  "boot-roster": bootRosterTable,
  staging: stagingTable,
  silo: siloTable,
  tenant: tenantTable,
  project: projectTable,
  quota: quotaTable,
};

test.each(Object.entries(TABLES))("the table of %s", (_kind, table) => {
  expect(printTable(table)).toMatchSnapshot();
});

test("every actor kind of this build has its table here", () => {
  expect(Object.keys(TABLES).sort()).toEqual(behaviors.map(({ kind }) => kind).sort());
});
