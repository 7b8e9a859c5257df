import type { ExplainBody, PlacementExplanation } from "../../../src/contract/placement.ts";
import { CN_ROLES, INSTANCE_BRANDS } from "../../../src/contract/enums.ts";
import { type AnyCommand, command, each, oneOf, wholeNumber } from "../../framework.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import { pairOf } from "../cn/traits/traits.ts";
import { resolveNode } from "../node-name.ts";
import { resolveTenant } from "../tenant/tenant.ts";
import { explanationText, nodeText } from "./report.ts";

export function explain(): AnyCommand {
  return command(
    "explain",
    "Tell where an instance would be placed now, and which filter keeps it from each other node",
  )
    .argument("[instance]", "UUID of an existing instance; left out for one that --cpu and --memory describe")
    .option("--cpu <count>", "vCPUs", wholeNumber(1))
    .option("--memory <size>", "memory: bytes, or a size such as 4GiB")
    .option("--disk <size>", "all disks together: bytes, or a size such as 20GiB")
    .option("--tenant <tenant>", "whose it is; without, no pinned node fits")
    .addOption(oneOf("--role <role>", "what the node must be for; default tenant", CN_ROLES))
    .addOption(oneOf("--brand <brand>", "how it is run; bhyve needs hardware virtualisation", INSTANCE_BRANDS))
    .option("--min-platform <stamp>", "the oldest platform that will do")
    .option("--avoid <node>", "not on this node; may be repeated", each)
    .option("--trait <trait=value>", "a trait the node must have; may be repeated", each)
    .option("--nic-tag <nic-tag>", "a NIC tag the node must offer; may be repeated", each)
    .option("--node <node>", "show every filter and score of this one node")
    .action(withIo(async (io, instance, { node, ...options }) => {
      if (instance === undefined && (options.cpu === undefined || options.memory === undefined)) {
        throw usageFailure("name an instance, or give --cpu and --memory");
      }
      const body = await bodyOf(io, instance, options);
      const told = await io.post<PlacementExplanation>("/v1/system/placement/explain", body);
      io.print(told, node === undefined ? explanationText(told) : nodeText(told, await resolveNode(io, node)));
    }));
}

type Options = {
  readonly cpu?: number;
  readonly memory?: string;
  readonly disk?: string;
  readonly tenant?: string;
  readonly role?: ExplainBody["role"];
  readonly brand?: ExplainBody["brand"];
  readonly minPlatform?: string;
  readonly avoid?: readonly string[];
  readonly trait?: readonly string[];
  readonly nicTag?: readonly string[];
};

/** What is not given is left out, so that an instance keeps what it has. */
async function bodyOf(io: Io, instance_id: string | undefined, options: Options): Promise<Partial<ExplainBody>> {
  const { cpu, memory, disk, tenant, role, brand, minPlatform, avoid = [], trait, nicTag } = options;
  return {
    ...(instance_id !== undefined && { instance_id }),
    ...(cpu !== undefined && { cpu }),
    ...(memory !== undefined && { memory_bytes: parseByteSize(memory, "--memory") }),
    ...(disk !== undefined && { disk_bytes: parseByteSize(disk, "--disk") }),
    ...(tenant !== undefined && { tenant_id: await resolveTenant(io, tenant) }),
    ...(role !== undefined && { role }),
    ...(brand !== undefined && { brand }),
    ...(minPlatform !== undefined && { min_platform: minPlatform }),
    ...(avoid.length > 0 && { avoid_cn: await Promise.all(avoid.map((name) => resolveNode(io, name))) }),
    ...(trait !== undefined && { traits: Object.fromEntries(trait.map(pairOf)) }),
    ...(nicTag !== undefined && { nic_tags: [...nicTag] }),
  };
}
