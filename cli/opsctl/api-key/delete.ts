import { type AnyCommand, command } from "../../framework.ts";
import { plainText } from "../../kit/plain-text.ts";
import { withIo } from "../../kit/run.ts";
import { API_KEYS_PATH } from "./list.ts";

export function remove(): AnyCommand {
  return command("delete", "Delete one of your API keys; it stops working at once")
    .argument("<key-id>", "id of the key")
    .action(withIo(async (io, id) => {
      await io.send({ method: "DELETE", path: `${API_KEYS_PATH}/${encodeURIComponent(id)}` });
      io.print(null, `Deleted API key ${plainText(id)}`);
    }));
}
