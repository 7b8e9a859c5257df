import type { Silo } from "../../../src/contract/tenancy.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { DESCRIPTION_OPTION } from "../../internal/named-patch.ts";
import { titleOf } from "../../internal/record-name.ts";
import { SILOS_PATH } from "./silo.ts";

export function create(): AnyCommand {
  return command("create", "Make a silo, and in it a tenant named default")
    .argument("<name>", "1 to 63 bytes, without / or \\")
    .option(...DESCRIPTION_OPTION)
    .action(withIo(async (io, name, { description }) => {
      const silo = await io.post<Silo>(SILOS_PATH, { name, description });
      io.print(silo, `Created silo ${titleOf(silo)}`);
      io.note(`Its first tenant is ${silo.name}/default (${silo.default_tenant_id})`);
    }));
}
