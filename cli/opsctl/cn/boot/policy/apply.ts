import { type AnyCommand, command } from "../../../../framework.ts";
import { readDocument } from "../../../../internal/document.ts";
import { withIo } from "../../../../internal/run.ts";
import { changedFields, etagOf, putPolicy, readPolicy } from "./policy.ts";

export function apply(): AnyCommand {
  return command(
    "apply",
    "Replace the whole boot policy, including its allowlist and admin network",
    "--file policy.json",
  )
    .requiredOption(
      "-f, --file <file>",
      "policy as JSON, or as TOML in a file *.toml; - for JSON on standard input",
    )
    .option("--if-match <version>", "fail unless the policy still has this version (opsctl cn boot policy show)")
    .addHelpText(
      "after",
      "\nOnly rack_networks and label_arguments may be missing, and are then empty.\n" +
        "TOML has no null: write a policy without an image or a network as JSON.",
    )
    .action(withIo(async (io, { file, ifMatch }) => {
      const body = await readDocument(io, file);
      const before = await readPolicy(io);
      const policy = await putPolicy(io, body, ifMatch === undefined ? before.etag : etagOf(ifMatch));
      io.print(policy, `Boot policy applied; ${changedFields(before.policy, policy)}`);
    }));
}
