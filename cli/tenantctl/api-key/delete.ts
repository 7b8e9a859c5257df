import { type AnyCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { resolveKeyId } from "../../internal/api-key-id.ts";
import { withIo } from "../open-io.ts";
import { keysPath } from "./api-key.ts";

export function remove(): AnyCommand {
  return deleteCommand(
    "delete",
    "Delete an API key of the tenant; it stops working at once",
    "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012",
  )
    .argument("<key-id>", "UUID or unique UUID prefix (tenantctl api-key list)")
    .action(withIo(async (io, text) => {
      const path = await keysPath(io);
      const id = await resolveKeyId(io, text, { path, list: "tenantctl api-key list" });
      await io.send({ method: "DELETE", path: `${path}/${id}` });
      io.say(`API key ${id} deleted.`);
    }));
}
