import { type AnyCommand, command } from "../../../framework.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { act, MAC_ARGUMENT } from "./record.ts";

export function reactivate(): AnyCommand {
  return command("reactivate", "Let a decommissioned machine be discovered again", "02:00:5e:00:53:01")
    .argument(...MAC_ARGUMENT)
    .action(withIo(async (io, mac) => {
      const record = await act(io, mac, "reactivate");
      io.print(record, `Reactivated ${plainText(record.mac)} (state=${plainText(record.state)})`);
    }));
}
