import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { keysPath, OF_TENANT_OPTION } from "./keys.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete an API key; it stops working at once", "0191b0a2-7c1e-7d2f-9a3b-5c6d7e8f9012")
    .argument("<key-id>", "key id (opsctl api-key list)")
    .option(...OF_TENANT_OPTION)
    .action(withIo(async (io, id, { tenant }) => {
      await io.send({ method: "DELETE", path: `${await keysPath(io, tenant)}/${encodeURIComponent(id)}` });
      io.print(null, `Deleted API key ${plainText(id)}`);
    }));
}
