import { type AnyCommand } from "../../../framework.ts";
import { confirm } from "../../../internal/confirmation.ts";
import { deleteCommand } from "../../../internal/delete-command.ts";
import { plainText } from "../../../internal/plain-text.ts";
import { withIo } from "../../../internal/run.ts";
import { act, checkMac, MAC_ARGUMENT } from "./record.ts";

export function decommission(): AnyCommand {
  return deleteCommand(
    "decommission",
    "Stop the netboots of a machine; if its node is in use, disable the node first",
    "02:00:5e:00:53:01",
    { asks: true },
  )
    .argument(...MAC_ARGUMENT)
    .action(withIo(async (io, text, { yes }) => {
      const mac = checkMac(text);
      await confirm(io, yes === true, () =>
        Promise.resolve({
          warning: `The booter stops answering ${mac}: the machine cannot netboot until it is reactivated.`,
          names: [mac],
        }));
      const record = await act(io, mac, "decommission");
      io.print(record, `Decommissioned ${plainText(record.mac)} (state=${plainText(record.state)})`);
    }));
}
