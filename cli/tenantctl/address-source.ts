// Defines and reads the options that choose the source of a public address: --family, --network and --pool.
import type { AddressFamily } from "../../src/contract/enums.ts";
import { option } from "../framework.ts";
import { type FamilyName, familyOf } from "./family.ts";

/**
 * Returns --network and --pool, which exclude each other and the options `excluded`. The server accepts a family beside
 * a network or a pool only for NAT gateways.
 */
export function networkOptions(...excluded: readonly "family"[]) {
  return [
    option("--network <uuid>", "take the address from this external subnet").conflicts([...excluded, "pool"]),
    option("--pool <uuid>", "take the address from this network pool").conflicts([...excluded, "network"]),
  ] as const;
}

type Given = {
  readonly family?: FamilyName | undefined;
  readonly network?: string | undefined;
  readonly pool?: string | undefined;
};

type Source = {
  readonly family?: AddressFamily | undefined;
  readonly network_id?: string | undefined;
  readonly pool_id?: string | undefined;
};

/** Returns the fields of the body that name the source. Without --network and --pool, names only the family. */
export function sourceOf({ family, network, pool }: Given): Source {
  if (network === undefined && pool === undefined) return { family: familyOf(family ?? "ipv4") };
  return { family: family && familyOf(family), network_id: network, pool_id: pool };
}
