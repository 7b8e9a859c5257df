import type { CnPlacement, CnPlacementPatch } from "../../../../src/contract/cn-placement.ts";
import { CN_PLACEMENT_CLEARABLE, type CnPlacementClearable } from "../../../../src/contract/enums.ts";
import { type AnyCommand, command, finiteNumber, oneOf } from "../../../framework.ts";
import { usageFailure } from "../../../internal/failure.ts";
import { withIo } from "../../../internal/run.ts";
import { NODE_ARGUMENT } from "../../node-name.ts";
import { findSilo } from "../../silo/silo.ts";
import { resolveTenant } from "../../tenant/tenant.ts";
import { placementPath, printPlacement } from "./placement.ts";

const YES_OR_NO = ["true", "false"] as const;

export function set(): AnyCommand {
  return command(
    "set",
    "Reserve, cordon, pin or overprovision a node; omitted settings do not change",
    'cn-17 --cordoned true --cordoned-reason "new power supply"',
  )
    .argument(...NODE_ARGUMENT)
    .addOption(oneOf("--reserved <boolean>", "whether the node permanently takes no new instances", YES_OR_NO))
    .option("--reserved-reason <text>", "reason for the reservation")
    .addOption(
      oneOf(
        "--cordoned <boolean>",
        "whether the node temporarily takes no new instances, for example during maintenance",
        YES_OR_NO,
      ),
    )
    .option("--cordoned-reason <text>", 'reason for the cordon; use "drain" if the node is being emptied')
    .option("--overprovision-cpu <factor>", "factor by which its CPU may be oversold", finiteNumber)
    .option("--overprovision-ram <factor>", "factor by which its memory may be oversold", finiteNumber)
    .option("--overprovision-disk <factor>", "factor by which its disk may be oversold", finiteNumber)
    .option("--fault-domain <name>", "name that the node shares with nodes that fail together, for example of a rack")
    .option("--pinned-silo <silo>", "place only instances of this silo")
    .option("--pinned-tenant <tenant>", "place only instances of this tenant")
    .option("--note <text>", "note to other operators")
    .option(
      "--clear <fields>",
      `comma-separated settings to reset to their defaults: ${CN_PLACEMENT_CLEARABLE.join(", ")}`,
    )
    .action(withIo(async (io, name, options) => {
      const { reserved, cordoned, pinnedSilo, pinnedTenant, clear } = options;
      if (Object.keys(options).length === 0) throw usageFailure("there is nothing to set; pass at least one option");
      const body: CnPlacementPatch = {
        reserved: reserved === undefined ? undefined : reserved === "true",
        reserved_reason: options.reservedReason,
        cordoned: cordoned === undefined ? undefined : cordoned === "true",
        cordoned_reason: options.cordonedReason,
        overprovision_cpu: options.overprovisionCpu,
        overprovision_ram: options.overprovisionRam,
        overprovision_disk: options.overprovisionDisk,
        fault_domain: options.faultDomain,
        pinned_silo_uuid: pinnedSilo && (await findSilo(io, pinnedSilo)).id,
        pinned_tenant_uuid: pinnedTenant && await resolveTenant(io, pinnedTenant),
        note: options.note,
        clear: clear === undefined ? undefined : fieldsOf(clear),
      };
      printPlacement(io, await io.send<CnPlacement>({ method: "PATCH", path: await placementPath(io, name), body }));
    }));
}

function fieldsOf(text: string): CnPlacementClearable[] {
  return text.split(",").map((word) => {
    const field = CN_PLACEMENT_CLEARABLE.find((each) => each === word.trim());
    if (field === undefined) {
      throw usageFailure(`--clear takes ${CN_PLACEMENT_CLEARABLE.join(", ")}, not ${word.trim()}`);
    }
    return field;
  });
}
