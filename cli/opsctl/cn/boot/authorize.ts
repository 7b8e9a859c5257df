import { type AnyCommand, command } from "../../../framework.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { act, MAC_ARGUMENT } from "./record.ts";

export function authorize(): AnyCommand {
  return command("authorize", "Let a machine enrol, and reserve an address for it", "02:00:5e:00:53:01")
    .argument(...MAC_ARGUMENT)
    .action(withIo(async (io, mac) => {
      const record = await act(io, mac, "authorize");
      const address = plainText(record.address ?? "-");
      io.print(record, `Authorized ${plainText(record.mac)} (state=${plainText(record.state)}, address ${address})`);
    }));
}
