import type { InstanceShown } from "../../../src/contract/instance.ts";
import { type AnyCommand, showCommand } from "../../framework.ts";
import { withIo } from "../open-io.ts";
import { NAME_HELP, resolveInstance } from "../record/scope.ts";
import { addressesOfOne } from "./address.ts";
import { INSTANCE, printInstance } from "./instance.ts";

export function show(): AnyCommand {
  return showCommand("show", "Show one instance", "web1")
    .argument("<instance>", NAME_HELP)
    .action(withIo(async (io, name) => {
      const instance = await io.get<InstanceShown>(`${INSTANCE.path}/${await resolveInstance(io, name)}`);
      const addresses = io.is_data || io.json ? [] : await addressesOfOne(io, instance.id);
      printInstance(io, instance, [["addresses", addresses.join(", ")], ...guestLines(instance)]);
    }));
}

/** Returns the addresses that the guest itself reports, if the answer has them. */
function guestLines({ guest_interfaces }: InstanceShown): readonly (readonly [string, string])[] {
  const addresses = (guest_interfaces ?? []).flatMap((each) => each.addresses);
  return addresses.length === 0 ? [] : [["the guest reports", addresses.join(", ")]];
}
