import type { BootRecordShown } from "../../../../src/contract/boot.ts";
import { type AnyCommand, showCommand } from "../../../framework.ts";
import { withIo } from "../../../internal/run.ts";
import { checkMac, MAC_ARGUMENT, recordPath, recordText } from "./record.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one boot record", "02:00:5e:00:53:01")
    .argument(...MAC_ARGUMENT)
    .action(withIo(async (io, mac) => {
      const record = await io.get<BootRecordShown>(recordPath(checkMac(mac)));
      io.print(record, recordText(record));
    }));
}
