import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import { keysPath, OF_TENANT_OPTION } from "./keys.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete one of your API keys or one of a tenant; it stops working at once")
    .argument("<key-id>", "id of the key")
    .option(...OF_TENANT_OPTION)
    .action(withIo(async (io, id, { tenant }) => {
      await io.send({ method: "DELETE", path: `${await keysPath(io, tenant)}/${encodeURIComponent(id)}` });
      io.print(null, `Deleted API key ${plainText(id)}`);
    }));
}
