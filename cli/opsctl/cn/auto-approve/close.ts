import { type AnyCommand, command } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { WINDOW_PATH } from "./window.ts";

export function close(): AnyCommand {
  return command("close", "Close the auto-approve window")
    .action(withIo(async (io) => {
      await io.send({ method: "DELETE", path: WINDOW_PATH });
      io.print(null, "Auto-approve window closed.");
    }));
}
