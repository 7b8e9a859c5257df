// Shows the external subnet of a public address. Only operators may read external subnets.
import type { AddressFamily } from "../../src/contract/enums.ts";
import type { ExternalSubnet } from "../../src/contract/external-network.ts";
import { get } from "../core/client.ts";
import { isOperator } from "../core/session.ts";
import { Link } from "../parts/basics.tsx";
import { openPageOf } from "../parts/named.tsx";
import { useQuery } from "../parts/use-query.ts";

type Props = {
  readonly id: string;
  /** The family of the public address. */
  readonly family: AddressFamily;
};

export function ExternalSubnetOf(props: Props) {
  return isOperator() ? <Named {...props} /> : <code>{props.id}</code>;
}

/** The subnet's name and its block of the family, as a link. Shows the UUID if the operator may not read the subnet. */
function Named({ id, family }: Props) {
  const { data: subnet } = useQuery({
    key: `external subnet ${id}`,
    kinds: ["external-subnet"],
    read: (signal) => get<ExternalSubnet>(`/v1/system/external-subnets/${id}`, undefined, signal),
  });
  if (subnet === undefined) return <code>{id}</code>;
  return (
    <>
      <Link to={openPageOf({ scope: "external_subnet", id }) ?? "/networks"}>{subnet.name}</Link>{" "}
      <span class="dim">{family === "v4" ? subnet.ipv4_block : subnet.ipv6_block}</span>
    </>
  );
}
