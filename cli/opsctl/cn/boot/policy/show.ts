import { type AnyCommand, showCommand } from "../../../../framework.ts";
import { withIo } from "../../../../internal/run.ts";
import { policyText, readPolicy, versionOf } from "./policy.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show the boot policy; --json prints the form that apply takes")
    .action(withIo(async (io) => {
      const { policy, etag } = await readPolicy(io);
      io.print(policy, policyText(policy, versionOf(etag)));
    }));
}
