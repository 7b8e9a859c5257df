import { type AnyCommand, command } from "../../../framework.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { act, MAC_ARGUMENT } from "./record.ts";

export function assign(): AnyCommand {
  return command(
    "assign",
    "Set the platform image of a machine's next netboot",
    "02:00:5e:00:53:01 --pi 20261121T000000Z",
  )
    .argument(...MAC_ARGUMENT)
    .requiredOption("--pi <stamp>", "stamp of a staged platform image (opsctl pi list)")
    .action(withIo(async (io, mac, { pi }) => {
      const record = await act(io, mac, "assign", { platform_image: pi });
      const stamp = plainText(record.assigned_pi ?? pi);
      io.print(record, `Assigned platform image ${stamp} to ${plainText(record.mac)}; applied at its next netboot`);
    }));
}
