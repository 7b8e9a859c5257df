// The options that choose the source of a public address: --family, --network and --pool.
import type { AddressFamily } from "../../src/contract/enums.ts";
import { option } from "../framework.ts";
import { type FamilyName, familyOf } from "./family.ts";

/** Returns --network and --pool, which exclude each other and --family. */
export function networkOptions() {
  return [
    option("--network <uuid>", "take the address from this external subnet").conflicts(["family", "pool"]),
    option("--pool <uuid>", "take the address from this network pool").conflicts(["family", "network"]),
  ] as const;
}

type Given = {
  readonly family?: FamilyName | undefined;
  readonly network?: string | undefined;
  readonly pool?: string | undefined;
};

type Source =
  | { readonly family: AddressFamily }
  | { readonly network_id?: string | undefined; readonly pool_id?: string | undefined };

/** Returns the fields of the body that name the source. By default, it is the fixed pool of the family. */
export function sourceOf({ family = "ipv4", network, pool }: Given): Source {
  if (network === undefined && pool === undefined) return { family: familyOf(family) };
  return { network_id: network, pool_id: pool };
}
