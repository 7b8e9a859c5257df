// Completes the boot policy of a manifest with the defaults of the server. So it can be compared with the policy in
// force.
import { BOOT_CONSOLE_SPEED_DEFAULT } from "../../../src/contract/limits.ts";
import type { Entry } from "../../internal/manifest/kind.ts";

type Values = Entry["values"];

const LISTS = ["allowlist", "enrollment_kernel_args", "rack_networks", "label_arguments"];

/** Returns the policy with its defaults. On the server a list is never null, so null means an empty list. */
export function completePolicy(values: Values): Values {
  const lists = Object.fromEntries(LISTS.filter((field) => values[field] === null).map((field) => [field, []]));
  // parseManifest has checked the types of these fields.
  const { admin_network: network, rack_networks: racks, label_arguments: labels } = values as {
    readonly admin_network?: Values | null;
    readonly rack_networks?: readonly Values[] | null;
    readonly label_arguments?: readonly Values[] | null;
  };
  return {
    ...values,
    ...lists,
    ...network && { admin_network: completeNetwork(network) },
    ...racks && { rack_networks: racks.map(completeRack) },
    ...labels && { label_arguments: labels.map(completeArguments) },
  };
}

function completeNetwork({ vlan_id, ...rest }: Values): Values {
  const tagged = vlan_id === null || vlan_id === undefined ? {} : { vlan_id };
  return { ...rest, gateway: rest.gateway ?? null, resolvers: rest.resolvers ?? [], ...tagged };
}

function completeRack(rack: Values): Values {
  return { ...completeNetwork(rack), relays: rack.relays ?? [] };
}

function completeArguments(given: Values): Values {
  const { console } = given;
  if (typeof console !== "object" || console === null) return given;
  const { speed, ...rest } = console as Values;
  return { ...given, console: { ...rest, speed: speed ?? BOOT_CONSOLE_SPEED_DEFAULT } };
}
