import type { Roster } from "../../../../../src/contract/boot.ts";
import { type AnyCommand, command } from "../../../../framework.ts";
import { readDocument } from "../../../../internal/document.ts";
import { withIo } from "../../../../internal/run.ts";
import { etagOf } from "../policy/policy.ts";
import { ROSTER_PATH } from "./roster.ts";

export function apply(): AnyCommand {
  return command("apply", "Replace the roster", "--file roster.json")
    .requiredOption("-f, --file <file>", "JSON array of {hostname, macs, nic_tags, aggregate}; - for standard input")
    .option("--if-match <version>", "fail unless the roster still has this version (opsctl cn boot roster show)")
    .action(withIo(async (io, { file, ifMatch }) => {
      const body = await readDocument(io, file);
      const headers: Record<string, string> = ifMatch === undefined ? {} : { "if-match": etagOf(ifMatch) };
      const roster = await io.send<Roster>({ method: "PUT", path: ROSTER_PATH, body, headers });
      io.print(roster, `Declared machines: ${roster.length}`);
      io.note(
        "Machines that enrol later get the declared networking; for enrolled machines run: opsctl cn boot converge",
      );
    }));
}
