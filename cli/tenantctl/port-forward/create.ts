import { PORT_FORWARD_PROTOCOLS } from "../../../src/contract/enums.ts";
import { PORT_MAX } from "../../../src/contract/limits.ts";
import type { PortForward, PortForwardBody } from "../../../src/contract/port-forward.ts";
import { type AnyCommand, command, invalidValue, option, wholeNumber } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { NAT_GATEWAY } from "../nat-gateway/nat-gateway.ts";
import { NIC, NIC_NAME_HELP, OF_INSTANCE_HELP } from "../nic/nic.ts";
import { withIo } from "../open-io.ts";
import { INSTANCE_FLAGS, needVpc, resolveRecord, VPC_OPTION } from "../record/scope.ts";
import { change, WAIT_OPTION } from "../record/wait.ts";
import { PORT_FORWARD } from "./port-forward.ts";

export function create(): AnyCommand {
  return command(
    "create",
    "Create a port forward from a NAT gateway to a NIC",
    "--vpc web --name https --nat-gateway out --port 443 --nic 01a20545-d1d3-77c5-b014-7bac72ce0350 --nic-port 8443",
  )
    .option(...VPC_OPTION)
    .requiredOption("--name <name>", "1 to 63 bytes; unique in the VPC")
    .option("--description <text>", "free-form description")
    .requiredOption(
      "--nat-gateway <nat-gateway>",
      "gateway that gets the connections: UUID, unique UUID prefix or name",
    )
    .addOption(option("--protocol <protocol>", "protocol, by default tcp").choices(PORT_FORWARD_PROTOCOLS))
    .requiredOption("--port <port>", "port of the gateway's public address", portOf)
    .requiredOption("--nic <nic>", `NIC to which the connections go: ${NIC_NAME_HELP}`)
    .option(INSTANCE_FLAGS, OF_INSTANCE_HELP)
    .option("--nic-port <port>", "port of the NIC; by default as --port", portOf)
    .option(...WAIT_OPTION)
    .action(withIo(async (io, { name, description, protocol, port, nic, nicPort, instance, wait, ...flags }) => {
      const vpc = await needVpc(io, flags.vpc);
      const body: Partial<PortForwardBody> = {
        name,
        description,
        nat_gateway_id: await resolveRecord(io, NAT_GATEWAY, { name: flags.natGateway, vpc }),
        nic_id: await resolveRecord(io, NIC, { name: nic, instance }),
        protocol,
        public_port: port,
        nic_port: nicPort,
      };
      const query = { vpc };
      const print = (forward: PortForward) => io.print(forward, blockText(PORT_FORWARD.lines(forward)));
      await change(io, { method: "POST", path: PORT_FORWARD.path, query, body }, { wait, print });
    }));
}

function portOf(text: string): number {
  const port = wholeNumber(1)(text);
  if (port > PORT_MAX) throw invalidValue(`It must be 1 to ${PORT_MAX}.`);
  return port;
}
