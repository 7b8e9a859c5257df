import { type AnyCommand, command } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { keysPath } from "./api-key.ts";

export function remove(): AnyCommand {
  return command(
    "delete",
    "Delete an API key of the tenant; it stops working at once",
    "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012",
  )
    .argument("<key-id>", "key id (tenantctl api-key list)")
    .action(withIo(async (io, id) => {
      await io.send({ method: "DELETE", path: `${await keysPath(io)}/${encodeURIComponent(id)}` });
      io.say(`API key ${id} deleted.`);
    }));
}
