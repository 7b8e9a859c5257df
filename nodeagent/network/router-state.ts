// Describes the state of a VPC's router namespace: addresses, neighbours, forwarding entries, policy rules and routes.
// The wanted state follows from a document; the observed state is read from the kernel; changes.ts compares them.
import type { DocumentRoute, DocumentSubnet, NetworkDocument } from "../../src/contract/network-document.ts";
import { containsBlock, parseBlock } from "../../src/lib/net/ip-block.ts";
import { destinationText, distinct, type Hop, type KernelRoute, MAIN_TABLE } from "./kernel-route.ts";
import {
  EXTERNAL_DEVICE,
  GATEWAY_IPV6,
  METADATA_IPV4,
  METADATA_IPV6,
  OVERLAY_DEVICE,
  routerAddress,
  routerMac,
  tapName,
} from "./names.ts";

export type Family = 4 | 6;
export const FAMILIES = [4, 6] as const;

/** A policy rule: packets from this block look up this table. */
export type PolicyRule = { readonly priority: number; readonly from: string; readonly table: number };
export type Address = {
  readonly device: string;
  readonly address: string;
  /** True for an address of a NAT gateway: the kernel removes it at the end of the lease (gateway-lease.ts). */
  readonly is_leased?: boolean;
};
export type Neighbour = { readonly device: string; readonly address: string; readonly mac: string };
/** A node behind the overlay device: packets to its router's MAC go to its underlay address. */
export type Forwarding = { readonly mac: string; readonly underlay_address: string };

export type FamilyState = {
  readonly addresses: readonly Address[];
  readonly neighbours: readonly Neighbour[];
  readonly rules: readonly PolicyRule[];
  readonly routes: readonly KernelRoute[];
};
export type RouterState = {
  readonly families: Readonly<Record<Family, FamilyState>>;
  readonly nodes: readonly Forwarding[];
};

/** The state of a new namespace. */
export const EMPTY_STATE: RouterState = {
  families: {
    4: { addresses: [], neighbours: [], rules: [], routes: [] },
    6: { addresses: [], neighbours: [], rules: [], routes: [] },
  },
  nodes: [],
};

/**
 * The priorities of the policy rules. They make the longest prefix win across several tables. The order is: routes to
 * destinations inside a subnet; the main table with the VPC's NICs (priority 300); the default routes of floating IPs
 * and public addresses; the other routes of the subnets.
 */
const PRIORITY = { inside_subnet: 100, public_addresses: 400, other_routes: 500 } as const;
/** The table with the default routes of floating IPs and of the router's own public addresses. */
const PUBLIC_TABLE = 9_999;
/**
 * The first table number of the subnets. Each subnet has two tables. They have the highest numbers, because a VPC may
 * have any number of subnets.
 */
const SUBNET_TABLES = 10_000;
const insideTable = (n: number) => SUBNET_TABLES + 2 * n;
const otherTable = (n: number) => SUBNET_TABLES + 2 * n + 1;
/**
 * The lowest table that agents of earlier releases used. The agent removes their tables. PUBLIC_TABLE and the tables of
 * the subnets have other numbers, so that during an upgrade of the agent no table has routes of both releases.
 */
const FIRST_OWN_TABLE = 1_000;

/** The priorities above. Other rules of the namespace are not touched. */
export const OWN_PRIORITIES: ReadonlySet<number> = new Set(Object.values(PRIORITY));

/** Returns whether this module, or an earlier release of it, creates routes in a table. */
export function isOwnTable(table: number): boolean {
  return table === MAIN_TABLE || table >= FIRST_OWN_TABLE;
}

/**
 * Returns the wanted state.
 * @param configured this node's address on the underlay, if the document has none
 * @param taps names of the taps that exist; a NIC without its tap gets only an `unreachable` route
 */
export function wantedState(
  document: NetworkDocument,
  configured: string,
  taps: ReadonlySet<string>,
): RouterState {
  const { underlay_address = configured } = document;
  const others = new Set(
    [
      ...document.remote_nics.map((nic) => nic.underlay_address),
      ...document.subnets.flatMap(({ routes }) => routes.map(({ target }) => gatewayNode(target))),
    ].filter((address): address is string => address !== null && address !== underlay_address),
  );
  const nodes = [...others].map((address) => ({ mac: routerMac(address), underlay_address: address }));
  // One hop for each node, not for each NIC: a document may have thousands of NICs on few nodes.
  const hops = new Map([...others].map((address) => [address, throughNode(address)]));
  const owned = new Set(
    [...document.local_nics, ...document.remote_nics].flatMap((nic) => [nic.ipv4, nic.ipv6, ...nic.addresses ?? []]),
  );
  return { families: { 4: familyState(4), 6: familyState(6) }, nodes };

  function familyState(family: Family): FamilyState {
    const nics = document.local_nics.filter(({ mac }) => taps.has(tapName(mac))).map((nic) => ({
      device: tapName(nic.mac),
      mac: nic.mac,
      arriving: nic.arriving,
      address: family === 4 ? nic.ipv4 : nic.ipv6,
      blocks: (nic.blocks ?? []).filter((block) => familyOf(block) === family),
      addresses: (nic.addresses ?? []).filter((each) => familyOf(each) === family),
      public_addresses: nic.floating_ips.filter((address) => familyOf(address) === family),
    }));
    // The route of an arriving NIC still leads to the source node of the migration.
    const present = nics.filter((nic): nic is typeof nic & { address: string } =>
      nic.address !== null && !nic.arriving
    );
    const gateways = document.nat_gateways.map(({ public_address }) => public_address)
      .filter((address) => familyOf(address) === family);
    const floating = present.flatMap(({ public_addresses }) => public_addresses);
    const onward = onwardGateway(family);
    const ownPublic = document.external === null ? [] : [
      ...floating.map((address) => ({ device: EXTERNAL_DEVICE, address })),
      ...gateways.map((address) => ({ device: EXTERNAL_DEVICE, address, is_leased: true })),
    ];
    return {
      addresses: [
        ...routerAddresses(family, nics.map(({ device }) => device)),
        ...ownPublic,
      ],
      neighbours: [
        ...present.map(({ device, address, mac }) => ({ device, address, mac })),
        ...(family === 6
          ? [...others].map((address) => ({
            device: OVERLAY_DEVICE,
            address: routerAddress(address),
            mac: routerMac(address),
          }))
          : []),
      ],
      rules: [
        ...subnetsOf(family).flatMap(({ block, index }) => [
          { priority: PRIORITY.inside_subnet, from: block, table: insideTable(index) },
          { priority: PRIORITY.other_routes, from: block, table: otherTable(index) },
        ]),
        // The router's own public addresses also need a rule: otherwise the reverse-path filter drops ARP requests that
        // the external router sends from another network.
        ...(onward === null ? [] : [
          ...present.filter(({ public_addresses }) => public_addresses.length > 0).map(({ address }) => address),
          ...ownPublic.map(({ address }) => address),
        ].map((from) => ({ priority: PRIORITY.public_addresses, from, table: PUBLIC_TABLE }))),
      ],
      routes: distinct([
        // When a NIC's tap is removed, the kernel removes the route to the tap. The fallback then keeps the address
        // unreachable. Without the fallback, the address could match the route to another NIC's block, and the other
        // guest could send and receive with this NIC's address.
        ...document.local_nics.filter(({ arriving }) => !arriving).flatMap(({ ipv4, ipv6, addresses = [] }) =>
          [ipv4, ipv6, ...addresses].filter((each) => each !== null && familyOf(each) === family).map((address) => ({
            table: MAIN_TABLE,
            destination: address!,
            hop: { kind: "unreachable" as const },
            is_fallback: true,
          }))
        ),
        // An address of a NIC belongs to this NIC, even while the NIC has no tap. So a block that is exactly this
        // address has no route.
        ...furtherRoutes("blocks").filter(({ destination }) => !owned.has(destination)),
        ...furtherRoutes("addresses"),
        ...present.map(({ device, address }) => ({
          table: MAIN_TABLE,
          destination: address,
          hop: { kind: "device" as const, device },
        })),
        ...document.remote_nics.flatMap((nic) => {
          const address = family === 4 ? nic.ipv4 : nic.ipv6;
          return address === null ? [] : [{
            table: MAIN_TABLE,
            destination: address,
            hop: hops.get(nic.underlay_address) ?? throughNode(nic.underlay_address),
          }];
        }),
        ...(onward === null
          ? []
          : [{ table: PUBLIC_TABLE, destination: "default", hop: onward }, ...unreachableBlocks(family, PUBLIC_TABLE)]),
        ...subnetsOf(family).flatMap(({ subnet, index }) => subnetRoutes(family, subnet, index)),
      ]),
    };

    function furtherRoutes(of: "blocks" | "addresses"): KernelRoute[] {
      return [
        ...present.flatMap(({ device, address, [of]: destinations }) =>
          destinations.map((destination) => ({
            table: MAIN_TABLE,
            destination: destinationText(destination),
            hop: { kind: "gateway" as const, gateway: address, device },
          }))
        ),
        ...document.remote_nics.flatMap(({ underlay_address, [of]: destinations = [] }) =>
          destinations.filter((destination) => familyOf(destination) === family).map((destination) => ({
            table: MAIN_TABLE,
            destination: destinationText(destination),
            hop: hops.get(underlay_address) ?? throughNode(underlay_address),
          }))
        ),
      ];
    }
  }

  function routerAddresses(family: Family, devices: readonly string[]): Address[] {
    if (family === 6) {
      return [
        { device: "lo", address: METADATA_IPV6 },
        { device: OVERLAY_DEVICE, address: routerAddress(underlay_address) },
        ...devices.map((device) => ({ device, address: GATEWAY_IPV6 })),
      ];
    }
    const gateways = document.subnets.map(({ gateway_ipv4 }) => gateway_ipv4).filter((address) => address !== null);
    return [METADATA_IPV4, ...gateways].map((address) => ({ device: "lo", address }));
  }

  function subnetsOf(family: Family) {
    return document.subnets.flatMap((subnet, index) => {
      const block = family === 4 ? subnet.ipv4_block : subnet.ipv6_block;
      return block === null ? [] : [{ subnet, block, index }];
    });
  }

  function subnetRoutes(family: Family, subnet: DocumentSubnet, index: number): KernelRoute[] {
    return [
      ...unreachableBlocks(family, otherTable(index)),
      ...subnet.routes.filter(({ destination }) => familyOf(destination) === family).flatMap((route) => {
        const hop = hopOf(family, route.target);
        const table = (isInsideSubnet(route.destination) ? insideTable : otherTable)(index);
        return hop === null ? [] : [{ table, destination: destinationText(route.destination), hop }];
      }),
    ];
  }

  /**
   * Returns `unreachable` routes to the VPC's blocks, so that no packet to an unused address of the VPC leaves through
   * a gateway or by a floating IP.
   */
  function unreachableBlocks(family: Family, table: number): KernelRoute[] {
    return document.blocks.filter((block) => familyOf(block) === family).map((block) => ({
      table,
      destination: destinationText(block),
      hop: { kind: "unreachable" as const },
    }));
  }

  function isInsideSubnet(destination: string): boolean {
    const inner = parseBlock(destination);
    return inner !== null &&
      document.subnets.some(({ ipv4_block, ipv6_block }) =>
        [ipv4_block, ipv6_block].some((text) => {
          const outer = text === null ? null : parseBlock(text);
          return outer !== null && outer.family === inner.family && containsBlock(outer, inner);
        })
      );
  }

  function hopOf(family: Family, target: DocumentRoute["target"]): Hop | null {
    switch (target.kind) {
      case "blackhole":
        return { kind: "blackhole" };
      case "reject":
        return { kind: "unreachable" };
      case "nat_gateway":
        return target.underlay_address === underlay_address
          ? onwardGateway(family)
          : throughNode(target.underlay_address);
    }
  }

  function onwardGateway(family: Family): Hop | null {
    const { external } = document;
    const gateway = family === 4 ? external?.gateway_ipv4 : external?.gateway_ipv6;
    return gateway === null || gateway === undefined ? null : { kind: "gateway", gateway, device: EXTERNAL_DEVICE };
  }
}

/** Returns the hop to another node: one IPv6 neighbour, for the routes of both families. */
function throughNode(underlay_address: string): Hop {
  return { kind: "gateway", gateway: routerAddress(underlay_address), device: OVERLAY_DEVICE };
}

function gatewayNode(target: DocumentRoute["target"]): string | null {
  return target.kind === "nat_gateway" ? target.underlay_address : null;
}

export function familyOf(address: string): Family {
  return address.includes(":") ? 6 : 4;
}
