import type { ExplainBody, PlacementExplanation } from "../../../src/contract/placement.ts";
import { CN_ROLES, INSTANCE_BRANDS } from "../../../src/contract/enums.ts";
import { type AnyCommand, command, each, oneOf, wholeNumber } from "../../framework.ts";
import { parseByteSize } from "../../internal/byte-size.ts";
import { usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import { pairOf } from "../cn/traits/traits.ts";
import { INSTANCE_ARGUMENT, resolveInstance } from "../instance/instance.ts";
import { resolveNode } from "../node-name.ts";
import { resolveTenant } from "../tenant/tenant.ts";
import { explanationText, nodeText } from "./report.ts";

export function explain(): AnyCommand {
  return command(
    "explain",
    "Show where an instance would be placed now, and why other nodes are rejected",
    "--cpu 2 --memory 4GiB",
  )
    .argument(
      "[instance]",
      `existing instance: ${INSTANCE_ARGUMENT[1]}; omit it to describe a new one with --cpu and --memory`,
    )
    .option("--cpu <count>", "vCPUs", wholeNumber(1))
    .option("--memory <size>", "memory: bytes, or a size such as 4GiB")
    .option("--disk <size>", "sum of all disks: bytes, or a size such as 20GiB")
    .option(
      "--tenant <tenant>",
      "tenant of the instance; without it, nodes that are pinned to a tenant or silo are rejected",
    )
    .addOption(oneOf("--role <role>", "role that the node must have; the default is the role tenant", CN_ROLES))
    .addOption(oneOf("--brand <brand>", "brand of the instance; bhyve needs hardware virtualisation", INSTANCE_BRANDS))
    .option("--min-platform <stamp>", "oldest platform image that can run it")
    .option("--avoid <node>", "node to avoid; may be repeated", each)
    .option("--trait <trait=value>", "trait that the node must have; may be repeated", each)
    .option("--nic-tag <nic-tag>", "NIC tag that the node must have; may be repeated", each)
    .option("--node <node>", "show every filter and score of this one node")
    .action(withIo(async (io, instance, { node, ...options }) => {
      if (instance === undefined && (options.cpu === undefined || options.memory === undefined)) {
        throw usageFailure("name an instance, or pass --cpu and --memory");
      }
      const body = await bodyOf(io, instance, options);
      const explanation = await io.post<PlacementExplanation>("/v1/system/placement/explain", body);
      const text = node === undefined
        ? explanationText(explanation)
        : nodeText(explanation, await resolveNode(io, node));
      io.print(explanation, text);
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

/** Returns the request body. It omits options that were not given, so that an existing instance's own values apply. */
async function bodyOf(io: Io, instance: string | undefined, options: Options): Promise<Partial<ExplainBody>> {
  const { cpu, memory, disk, tenant, role, brand, minPlatform, avoid = [], trait, nicTag } = options;
  return {
    ...(instance !== undefined && { instance_id: await resolveInstance(io, instance) }),
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
