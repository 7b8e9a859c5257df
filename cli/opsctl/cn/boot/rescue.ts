import { type AnyCommand, command } from "../../../framework.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { act, MAC_ARGUMENT } from "./record.ts";

export function rescue(): AnyCommand {
  return command(
    "rescue",
    "Boot a machine into rescue from its next netboot on, whatever the state of its boot record",
    "02:00:5e:00:53:01",
  )
    .argument(...MAC_ARGUMENT)
    .option("--clear", "end rescue")
    .action(withIo(async (io, mac, { clear }) => {
      const record = await act(io, mac, clear === true ? "rescue/clear" : "rescue");
      io.print(record, `Rescue is ${record.rescue ? "on" : "off"} for ${plainText(record.mac)}`);
    }));
}
