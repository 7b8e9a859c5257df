import type { Silo } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { DESCRIPTION_OPTION } from "../../internal/named-patch.ts";
import { titleOf } from "../../internal/record-name.ts";
import { SILOS_PATH } from "./silo.ts";

export function create(): AnyCommand {
  return command("create", 'Create a silo and its tenant "default"', "acme")
    .argument("<name>", "1 to 63 bytes, without / or \\")
    .option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, name, { description }) => {
      const silo = await io.post<Silo>(SILOS_PATH, { name, description });
      io.print(silo, `Created silo ${titleOf(silo)}`);
      io.note(`Created its tenant ${silo.name}/default (${silo.default_tenant_id})`);
    }));
}
