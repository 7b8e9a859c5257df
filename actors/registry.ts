// Every actor kind and every saga of this build. Order does not matter; a kind that is not here does not exist.
import { apiKey } from "./api-key/transition.ts";
import type { ApiKeyMessage } from "./api-key/messages.ts";
import { bootPolicy, type BootPolicyMessage } from "./boot-policy/transition.ts";
import type { BootRecordMessage } from "./boot-record/messages.ts";
import { bootRecord } from "./boot-record/transition.ts";
import { bootRoster, type BootRosterMessage } from "./boot-roster/transition.ts";
import { cn } from "./cn/transition.ts";
import type { CnMessage } from "./cn/messages.ts";
import type { AnyBehavior } from "./engine/types.ts";
import { job } from "./job/transition.ts";
import type { JobMessage } from "./job/messages.ts";
import { project, type ProjectMessage } from "./project/transition.ts";
import { quota, type QuotaMessage } from "./quota/transition.ts";
import { sagaBehavior } from "./saga/transition.ts";
import type { SagaMessage } from "./saga/messages.ts";
import { cnSetup } from "./sagas/cn-setup.ts";
import { nodeJoin } from "./sagas/node-join.ts";
import { setting, type SettingMessage } from "./setting/transition.ts";
import { silo, type SiloMessage } from "./silo/transition.ts";
import { site, type SiteMessage } from "./site/transition.ts";
import { staging, type StagingMessage } from "./staging/transition.ts";
import { tenant, type TenantMessage } from "./tenant/transition.ts";

/** Which messages each kind takes. */
export type Messages = {
  readonly cn: CnMessage;
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
};

export const sagas = [nodeJoin, cnSetup];

export const behaviors: readonly AnyBehavior[] = [
  cn,
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
  job,
  sagaBehavior(sagas),
];

/** Kinds whose rows carry deadlines: the pump looks for due ones. */
export const timedKinds: readonly string[] = ["cn", "site", "job", "saga"];
