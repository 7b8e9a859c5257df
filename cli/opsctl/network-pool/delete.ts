import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { titleOf } from "../../internal/record-name.ts";
import { findPool, POOL_ARGUMENT, POOLS_PATH } from "./pool.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete a network pool; its external subnets stay", "public")
    .argument(...POOL_ARGUMENT)
    .action(withIo(async (io, name) => {
      const pool = await findPool(io, name);
      await io.send({ method: "DELETE", path: `${POOLS_PATH}/${pool.id}` });
      io.print(null, `Deleted network pool ${titleOf(pool)}`);
    }));
}
