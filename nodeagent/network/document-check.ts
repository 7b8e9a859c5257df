// Checks a network document before the node stores it. Its texts become commands and rules of the kernel, so every text
// must have exactly the form of an address, a block, a MAC address, an id or a name. Unknown fields are ignored. A
// newer server raises the document's format if nodes must not ignore a new field.
import {
  FIREWALL_ACTIONS,
  FIREWALL_DIRECTIONS,
  FIREWALL_PROTOCOLS,
  PORT_FORWARD_PROTOCOLS,
} from "../../src/contract/enums.ts";
import { MTU_MAX, MTU_MIN, PORT_MAX, VLAN_ID_MAX } from "../../src/contract/limits.ts";
import type { NetworkDocument } from "../../src/contract/network-document.ts";
import { DEVICE_NAME } from "../../src/lib/net/device-name.ts";
import { parseIp } from "../../src/lib/net/ip-address.ts";
import { parseBlock } from "../../src/lib/net/ip-block.ts";

/** The format that this agent applies. */
export const FORMAT: NetworkDocument["format"] = 1;

/** Highest VXLAN network identifier: 24 bits (RFC 7348). */
const VNI_MAX = 2 ** 24 - 1;

const ID = /^[\w.-]{1,64}$/;
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;
/** A name of a guest. It never becomes a command, so it may have any characters except control characters. */
const HOST_NAME = /^\P{Cc}{0,253}$/u;

type Fields = Readonly<Record<string, unknown>>;
type Test = (value: unknown) => boolean;

/** Returns a sentence about the first problem of a document; null if the node can apply the document. */
export function documentProblem(given: unknown): string | null {
  if (!isFields(given)) return "the document is not an object";
  if (given.format !== FORMAT) {
    return `this agent does not know format ${String(given.format)} of network documents; upgrade it`;
  }
  return fieldProblem("document", given, {
    vpc_id: id,
    vni: wholeNumber(1, VNI_MAX),
    generation: wholeNumber(0, Number.MAX_SAFE_INTEGER),
    mtu: wholeNumber(MTU_MIN, MTU_MAX),
    blocks: listOf(block),
    subnets: listOf(subnet),
    local_nics: listOf(localNic),
    remote_nics: listOf(shape({ ...ADDRESSES, ...FURTHER, underlay_address: ipv4 })),
    nat_gateways: listOf(shape({
      nat_gateway_id: id,
      public_address: address,
      port_forwards: orMissing(listOf(portForward)),
    })),
    external: orNull(shape({
      bridge: text(DEVICE_NAME),
      vlan_id: orMissing(wholeNumber(0, VLAN_ID_MAX)),
      mtu: orMissing(wholeNumber(MTU_MIN, MTU_MAX)),
      gateway_ipv4: orNull(ipv4),
      gateway_ipv6: orNull(ipv6),
    })),
    firewall_rules: listOf(rule),
    names: listOf(shape({ name: text(HOST_NAME), ...ADDRESSES })),
    resolvers: listOf(address),
    ntp_servers: orMissing(listOf(address)),
    peers: orMissing(listOf(ipv4)),
    underlay_address: orMissing(ipv4),
  });
}

const id: Test = text(ID);
const address: Test = (value) => typeof value === "string" && parseIp(value) !== null;
const ipv4: Test = (value) => address(value) && !String(value).includes(":");
const ipv6: Test = (value) => address(value) && String(value).includes(":");
const block: Test = (value) => typeof value === "string" && parseBlock(value) !== null;
const ADDRESSES = { ipv4: orNull(ipv4), ipv6: orNull(ipv6) };
const FURTHER = { blocks: orMissing(listOf(block)), addresses: orMissing(listOf(address)) };

const target: Test = (value) => {
  if (!isFields(value)) return false;
  return value.kind === "blackhole" || value.kind === "reject" ||
    (value.kind === "nat_gateway" && ipv4(value.underlay_address) && orMissing(id)(value.nat_gateway_id));
};

const subnet: Test = shape({
  subnet_id: id,
  ipv4_block: orNull(block),
  ipv6_block: orNull(block),
  gateway_ipv4: orNull(ipv4),
  routes: listOf(shape({ destination: block, target })),
});

const limit = orNull(wholeNumber(0, Number.MAX_SAFE_INTEGER));

const localNic: Test = shape({
  nic_id: id,
  instance_id: id,
  hostname: text(HOST_NAME),
  subnet_id: id,
  mac: text(MAC),
  ...ADDRESSES,
  ...FURTHER,
  floating_ips: listOf(address),
  arriving: (value) => typeof value === "boolean",
  connections_max: limit,
  packets_per_second_max: orMissing(limit),
  bytes_per_second_max: orMissing(limit),
});

const port = wholeNumber(1, PORT_MAX);
const portForward = shape({ protocol: oneOf(PORT_FORWARD_PROTOCOLS), public_port: port, address, port });

const ports = orNull(shape({ low: wholeNumber(0, PORT_MAX), high: wholeNumber(0, PORT_MAX) }));

const rule: Test = shape({
  rule_id: id,
  priority: wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  direction: oneOf(FIREWALL_DIRECTIONS),
  action: oneOf(FIREWALL_ACTIONS),
  protocol: oneOf(FIREWALL_PROTOCOLS),
  source_cidr: orNull(block),
  destination_cidr: orNull(block),
  source_ports: ports,
  destination_ports: ports,
  icmp_type_code: orNull(shape({ type: wholeNumber(0, 255), code: wholeNumber(0, 255) })),
});

function fieldProblem(where: string, given: Fields, tests: Readonly<Record<string, Test>>): string | null {
  const wrong = Object.entries(tests).find(([name, test]) => !test(given[name]));
  return wrong === undefined ? null : `the field ${wrong[0]} of the ${where} is malformed`;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shape(tests: Readonly<Record<string, Test>>): Test {
  return (value) => isFields(value) && fieldProblem("", value, tests) === null;
}

function listOf(test: Test): Test {
  return (value) => Array.isArray(value) && value.every(test);
}

function orNull(test: Test): Test {
  return (value) => value === null || test(value);
}

function orMissing(test: Test): Test {
  return (value) => value === undefined || value === null || test(value);
}

function oneOf(values: readonly string[]): Test {
  return (value) => typeof value === "string" && values.includes(value);
}

function text(form: RegExp): Test {
  return (value) => typeof value === "string" && form.test(value);
}

function wholeNumber(min: number, max: number): Test {
  return (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max;
}
