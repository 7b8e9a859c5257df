import type { Quota, QuotaBody, TenantQuota } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command, wholeNumber } from "../../framework.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { usageFailure } from "../../internal/failure.ts";
import { withIo } from "../../internal/run.ts";
import { findQuota, quotaText } from "../../internal/quota.ts";
import { findSubject, IN_TENANT_OPTION, SUBJECT_ARGUMENT } from "./subject.ts";

export function set(): AnyCommand {
  return command(
    "set",
    "Set the quota of a tenant or a project; omitted limits do not change",
    "web --cpu 64 --memory 256GiB",
  )
    .argument(...SUBJECT_ARGUMENT)
    .option(...IN_TENANT_OPTION)
    .option("--cpu <count>", "vCPUs of all instances", wholeNumber(0))
    .option("--memory <size>", "memory of all instances: bytes, or a size such as 64GiB")
    .option("--disk <size>", "disk of all instances: bytes, or a size such as 2TiB")
    .option("--instances <count>", "number of instances", wholeNumber(0))
    .action(withIo(async (io, name, { tenant, ...options }) => {
      const given = limitsGiven(options);
      const subject = await findSubject(io, name, tenant);
      const { kind, path, title } = subject;
      // The server requires all four limits.
      const body = isComplete(given) ? given : completed(given, await findQuota(io, subject), kind);
      const quota = await io.send<Quota | TenantQuota>({ method: "PUT", path: `${path}/quota`, body });
      io.print(quota, `Set the quota of ${kind} ${title}\n${quotaText(quota)}`);
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

function limitsGiven({ cpu, memory, disk, instances }: Options): Partial<QuotaBody> {
  const given = {
    ...(cpu !== undefined && { cpu_limit: cpu }),
    ...(memory !== undefined && { memory_bytes: parseByteSize(memory, "--memory") }),
    ...(disk !== undefined && { disk_bytes: parseByteSize(disk, "--disk") }),
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

function completed(given: Partial<QuotaBody>, before: QuotaBody | null, kind: string): QuotaBody {
  if (before === null) {
    const missing = LIMITS.filter((limit) => given[limit] === undefined).map((limit) => OPTION_OF[limit]);
    throw usageFailure(
      `the ${kind} has no quota yet, and a new quota needs all four limits; pass ${missing.join(", ")} too`,
    );
  }
  const { cpu_limit, memory_bytes, disk_bytes, instance_limit } = before;
  return { cpu_limit, memory_bytes, disk_bytes, instance_limit, ...given };
}
