import type { Nic } from "../../../src/contract/instance.ts";
import { type AnyCommand, listCommand } from "../../framework.ts";
import { LABEL_FILTER_OPTION, labelFilter } from "../../internal/labels.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_OPTION, resolveInstance, resolveRecord, VPC_FLAGS } from "../record/scope.ts";
import { projectScope } from "../scope.ts";
import { SUBNET } from "../subnet/subnet.ts";
import { NIC } from "./nic.ts";

export function list(): AnyCommand {
  return listCommand(
    "list",
    "List the NICs of a project, an instance or a subnet, or the NIC with an address",
    "--instance web1",
  )
    .option(...INSTANCE_OPTION)
    .option("--subnet <subnet>", "subnet: UUID, unique UUID prefix or name")
    .option(VPC_FLAGS, "VPC in which a subnet is looked up by name; by default the only VPC of the project")
    .option("--ip <address>", "only the NIC with this address")
    .option(...LABEL_FILTER_OPTION)
    .action(withIo(async (io, { instance, subnet, vpc, ip, label }) => {
      const narrowed = instance !== undefined || subnet !== undefined || ip !== undefined;
      const items = await io.all<Nic>(NIC.path, {
        ...(narrowed ? {} : await projectScope(io)),
        instance: instance === undefined ? undefined : await resolveInstance(io, instance),
        subnet: subnet === undefined ? undefined : await resolveRecord(io, SUBNET, { name: subnet, vpc }),
        ip,
        label: labelFilter(label),
      });
      io.table({ items }, items, NIC.columns, "(no NICs)");
    }));
}
