import { QUOTA_LIMIT_MAX } from "../../../src/contract/limits.ts";
import type { Limits, Quota, QuotaBody, TenantQuota } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command, wholeNumber } from "../../framework.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { usageFailure } from "../../internal/failure.ts";
import { withIo } from "../../internal/run.ts";
import { findQuota, quotaText, withoutQuota } from "../../internal/quota.ts";
import { findSubject, IN_TENANT_OPTION, SUBJECT_ARGUMENT } from "./subject.ts";

const UNLIMITED = "unlimited";
const COPIED_NOTE =
  "The other limits are copied from the site's defaults; a later change of the defaults does not change them";

export function set(): AnyCommand {
  return command(
    "set",
    "Set the quota of a tenant or a project; omitted limits do not change",
    "web --cpu 64 --memory 256GiB --disk unlimited",
  )
    .argument(...SUBJECT_ARGUMENT)
    .option(...IN_TENANT_OPTION)
    .option("--cpu <count>", "vCPUs of all instances, or unlimited", countLimit)
    .option("--memory <size>", "memory of all instances: bytes, a size such as 64GiB, or unlimited")
    .option("--disk <size>", "disk of all instances: bytes, a size such as 2TiB, or unlimited")
    .option("--instances <count>", "number of instances, or unlimited", countLimit)
    .action(withIo(async (io, name, { tenant, ...options }) => {
      const given = limitsGiven(options);
      const subject = await findSubject(io, name, tenant);
      const { kind, path, title } = subject;
      // The server requires all four limits. A new quota keeps the limits in force, which are the site's defaults.
      const before = isComplete(given) ? given : await findQuota(io, subject);
      const body = completed(given, before ?? await withoutQuota(io, subject));
      const quota = await io.send<Quota | TenantQuota>({ method: "PUT", path: `${path}/quota`, body });
      io.print(quota, `Set the quota of ${kind} ${title}\n${quotaText(quota)}`);
      if (before === null) io.note(COPIED_NOTE);
    }));
}

type Options = { cpu?: number; memory?: string; disk?: string; instances?: number };

const OPTION_OF: Readonly<Record<keyof QuotaBody, string>> = {
  cpu_limit: "--cpu",
  memory_bytes: "--memory",
  disk_bytes: "--disk",
  instance_limit: "--instances",
};
const LIMITS = Object.keys(OPTION_OF) as (keyof QuotaBody)[];

function countLimit(text: string): number {
  return text === UNLIMITED ? QUOTA_LIMIT_MAX : wholeNumber(0)(text);
}

function sizeLimit(text: string, option: string): number {
  return text === UNLIMITED ? QUOTA_LIMIT_MAX : parseByteSize(text, option);
}

function limitsGiven({ cpu, memory, disk, instances }: Options): Partial<QuotaBody> {
  const given = {
    ...(cpu !== undefined && { cpu_limit: cpu }),
    ...(memory !== undefined && { memory_bytes: sizeLimit(memory, "--memory") }),
    ...(disk !== undefined && { disk_bytes: sizeLimit(disk, "--disk") }),
    ...(instances !== undefined && { instance_limit: instances }),
  };
  if (Object.keys(given).length === 0) {
    throw usageFailure(`there is nothing to set; pass at least one of ${Object.values(OPTION_OF).join(", ")}`);
  }
  return given;
}

function isComplete(given: Partial<QuotaBody>): given is QuotaBody {
  return LIMITS.every((limit) => given[limit] !== undefined);
}

function completed(given: Partial<QuotaBody>, before: Limits): QuotaBody {
  const { cpu_limit, memory_bytes, disk_bytes, instance_limit } = before;
  return {
    cpu_limit: cpu_limit ?? QUOTA_LIMIT_MAX,
    memory_bytes: memory_bytes ?? QUOTA_LIMIT_MAX,
    disk_bytes: disk_bytes ?? QUOTA_LIMIT_MAX,
    instance_limit: instance_limit ?? QUOTA_LIMIT_MAX,
    ...given,
  };
}
