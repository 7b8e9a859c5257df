import type { FloatingIp, FloatingIpBody } from "../../../src/contract/network.ts";
import { type AnyCommand, command, oneOf } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { networkOptions, sourceOf } from "../address-source.ts";
import { FAMILY_NAMES } from "../family.ts";
import { LABEL_OPTION, parseLabels } from "../../internal/labels.ts";
import { withIo } from "../open-io.ts";
import { needProject, projectScope } from "../scope.ts";
import { FLOATING_IP } from "./floating-ip.ts";

export function create(): AnyCommand {
  const [network, pool] = networkOptions("family");
  return command("create", "Allocate a public address", "--name web-ip")
    .requiredOption("--name <name>", "1 to 63 bytes; unique in the project")
    .option("--description <text>", "free-form description")
    .option(...LABEL_OPTION)
    .addOption(oneOf("--family <family>", "family of the address; by default ipv4", FAMILY_NAMES))
    .addOption(network)
    .addOption(pool)
    .action(withIo(async (io, { name, description, label, ...source }) => {
      await needProject(io, "create a floating IP");
      const body: Partial<FloatingIpBody> = {
        name,
        description,
        labels: label && parseLabels(label),
        ...sourceOf(source),
      };
      const query = await projectScope(io);
      const ip = await io.send<FloatingIp>({ method: "POST", path: FLOATING_IP.path, query, body });
      io.print(ip, blockText(FLOATING_IP.lines(ip)));
    }));
}
