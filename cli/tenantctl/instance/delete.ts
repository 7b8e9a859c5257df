import type { Instance, InstancePatch } from "../../../src/contract/instance.ts";
import { type AnyCommand, command } from "../../framework.ts";
import { confirm } from "../../internal/confirmation.ts";
import { Failure } from "../../internal/failure.ts";
import { plainText } from "../../internal/plain-text.ts";
import { type TenantIo, withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { INSTANCE } from "./instance.ts";
import { NO_WAIT_OPTION, operate, operationText, WAIT_OPTION } from "./operation.ts";

export function remove(): AnyCommand {
  return command(
    "delete",
    "Delete a stopped or failed instance with its boot disk and addresses; delete its data disks and snapshots first",
    "web1",
  )
    .argument("<instance>", NAME_HELP)
    .option("--force", "for operators: delete it in any state, without waiting for its node")
    .option("--yes", "delete a protected instance without asking for its name")
    .option(...WAIT_OPTION)
    .option(...NO_WAIT_OPTION)
    .action(withIo(async (io, name, { force, yes, wait }) => {
      const path = `${INSTANCE.path}/${await resolveInstance(io, name)}`;
      const start = { method: "DELETE", path, query: { force: String(force === true) } } as const;
      const result = await operate<null>(io, start, wait).catch(async (error) => {
        if (!(error instanceof Failure) || error.error_code !== "DeletionProtected") throw error;
        await unprotect(io, path, yes === true);
        return await operate<null>(io, start, wait);
      });
      // Every `delete` command prints this line in every output format.
      if (result.ended) io.say(`Instance ${path.slice(INSTANCE.path.length + 1)} deleted.`);
      else io.print(result.operation, operationText(result.operation));
    }));
}

/** Removes the protection against deletion after the user has typed the name of the instance. */
async function unprotect(io: TenantIo, path: string, yes: boolean): Promise<void> {
  await confirm(io, yes, async () => {
    const { name } = await io.get<Instance>(path);
    const warning = plainText(
      `${name} is protected against deletion. Its boot disk and addresses are deleted with it.`,
    );
    return { warning, names: [name] };
  });
  const body: InstancePatch = { deletion_protection: false };
  await io.send<Instance>({ method: "PATCH", path, body });
}
