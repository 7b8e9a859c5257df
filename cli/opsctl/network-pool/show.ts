import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../../internal/run.ts";
import { findPool, networkNames, POOL_ARGUMENT, poolText } from "./pool.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one network pool", "public")
    .argument(...POOL_ARGUMENT)
    .action(withIo(async (io, name) => {
      const [pool, nameOf] = await Promise.all([findPool(io, name), networkNames(io)]);
      io.print(pool, poolText(pool, nameOf));
    }));
}
