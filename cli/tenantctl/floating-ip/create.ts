import type { FloatingIp, FloatingIpBody } from "../../../src/contract/network.ts";
import { type AnyCommand, command, oneOf } from "../../framework.ts";
import { blockText } from "../../internal/table.ts";
import { FAMILY_WORDS, familyOf } from "../family.ts";
import { withIo } from "../open-io.ts";
import { needProject, projectScope } from "../scope.ts";
import { FLOATING_IP } from "./floating-ip.ts";

export function create(): AnyCommand {
  return command("create", "Take a public address")
    .requiredOption("--name <name>", "1 to 63 bytes; no other floating IP of the project has it")
    .option("--description <text>", "what it is for")
    .addOption(oneOf("--family <family>", "family of the address; ipv4 when left out", FAMILY_WORDS))
    .action(withIo(async (io, { name, description, family = "ipv4" }) => {
      needProject(io, "a floating IP");
      const body: Partial<FloatingIpBody> = { name, description, family: familyOf(family) };
      const query = await projectScope(io);
      const ip = await io.send<FloatingIp>({ method: "POST", path: FLOATING_IP.path, query, body });
      io.print(ip, blockText(FLOATING_IP.lines(ip)));
    }));
}
