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
  return command("set", "Reserve, cordon, pin or overprovision a node; what is left out stays")
    .argument(...NODE_ARGUMENT)
    .addOption(oneOf("--reserved <boolean>", "keep new instances off it", YES_OR_NO))
    .option("--reserved-reason <text>", "why it is reserved")
    .addOption(oneOf("--cordoned <boolean>", "take no new instances for the time being", YES_OR_NO))
    .option("--cordoned-reason <text>", "why it is cordoned; drain for a node that is being emptied")
    .option("--overprovision-cpu <factor>", "promise so many times its CPU", finiteNumber)
    .option("--overprovision-ram <factor>", "promise so many times its memory", finiteNumber)
    .option("--overprovision-disk <factor>", "promise so many times its disk", finiteNumber)
    .option("--fault-domain <name>", "nodes of one name fail together, for example a rack")
    .option("--pinned-silo <silo>", "only for instances of this silo")
    .option("--pinned-tenant <tenant>", "only for instances of this tenant")
    .option("--note <text>", "a word to other operators")
    .option("--clear <fields>", `back to the default, with commas: ${CN_PLACEMENT_CLEARABLE.join(", ")}`)
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
