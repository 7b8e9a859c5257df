// nodeagent network: shows what is applied on this node, what differs from the documents, and where a packet stops.
import { existsSync } from "node:fs";
import type { NetworkDocument } from "../src/contract/network-document.ts";
import { type AnyCommand, command, group, wholeNumber } from "../cli/framework.ts";
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure, usageFailure } from "../cli/internal/failure.ts";
import { environmentOf } from "../cli/internal/run.ts";
import { canonicalIp, parseIp } from "../src/lib/net/ip-address.ts";
import { documentsFolder, openDocumentStore } from "./network/document-store.ts";
import { differences, routerTaps, ruleCounts } from "./network/inspect.ts";
import { tapName } from "./network/names.ts";
import { runProgram } from "./network/run.ts";
import { localBy, trace } from "./network/trace.ts";
import { underlayAddress } from "./network/underlay-address.ts";

const STATE_DIR = "/var/lib/berth-nodeagent";
const NO_VPC = "(this node has no VPC)\n";
const STATE_OPTION = ["--state-dir <folder>", "directory of the agent's state", STATE_DIR] as const;

export function network(): AnyCommand {
  return group("network", "Inspect the networks of this node", [show(), check(), traceCommand()]);
}

function show(): AnyCommand {
  return command("show", "Print the VPCs, NICs and firewall rules of this node, with the rules' counters")
    .option(...STATE_OPTION)
    .action(async ({ stateDir }, member) => {
      const { stdout } = environmentOf(member as AnyCommand);
      const documents = await documentsOf(stateDir);
      if (documents.length === 0) stdout.write(NO_VPC);
      for (const document of documents) {
        const taps = await routerTaps(document.vni, runProgram);
        const router = taps === null ? "no router" : "router present";
        stdout.write(`VPC ${document.vpc_id}: VNI ${document.vni}, generation ${document.generation}, ${router}\n`);
        for (const nic of document.local_nics) {
          const addresses = [nic.ipv4, nic.ipv6, ...nic.floating_ips].filter((address) => address !== null).join(" ");
          const state = taps?.has(tapName(nic.mac)) === true ? "plugged" : "not plugged";
          stdout.write(`  NIC ${nic.mac} of ${nic.hostname}: ${addresses}, ${state}\n`);
        }
        const counts = taps === null ? [] : await ruleCounts(document.vni, runProgram);
        for (const { rule_id, packets, bytes } of counts) {
          const is_gateway = document.nat_gateways.some(({ nat_gateway_id }) => nat_gateway_id === rule_id);
          stdout.write(
            is_gateway
              ? `  NAT gateway ${rule_id}: ${packets} connections\n`
              : `  rule ${rule_id}: ${packets} packets, ${bytes} bytes\n`,
          );
        }
      }
    }) as AnyCommand;
}

function check(): AnyCommand {
  return command("check", "Compare every router of this node with its document")
    .option(...STATE_OPTION)
    .action(async ({ stateDir }, member) => {
      const { stdout } = environmentOf(member as AnyCommand);
      const documents = await documentsOf(stateDir);
      const underlay_address = await underlayAddress({ given: null, local: null, state_dir: stateDir });
      if (documents.length > 0 && underlay_address === null) {
        throw new Failure("this node has no underlay address; start the agent with --underlay-address", EXIT.failure);
      }
      if (documents.length === 0) stdout.write(NO_VPC);
      let different = 0;
      for (const document of documents) {
        const lines = await differences(document, underlay_address!, runProgram);
        stdout.write(`VPC ${document.vpc_id}: ${lines.length === 0 ? "matches its document" : "differs"}\n`);
        for (const line of lines) stdout.write(`  ${line}\n`);
        if (lines.length > 0) different += 1;
      }
      if (different > 0) throw new Failure(`${different} of ${documents.length} VPCs differ`, EXIT.failure);
    }) as AnyCommand;
}

function traceCommand(): AnyCommand {
  return command("trace", "Show where a TCP packet stops on this node", "10.0.1.5 10.0.2.6 443")
    .argument("<from>", "address of the sender")
    .argument("<to>", "address of the receiver, or a floating IP")
    .argument("<port>", "destination port", wholeNumber(1))
    .option("--vpc <id>", "the VPC, if several have these addresses")
    .option(...STATE_OPTION)
    .action(async (given_from, given_to, port, { stateDir, vpc }, member) => {
      const { stdout } = environmentOf(member as AnyCommand);
      for (const address of [given_from, given_to]) {
        if (parseIp(address) === null) throw usageFailure(`${address} is not an address`);
      }
      const [from, to] = [canonicalIp(given_from), canonicalIp(given_to)];
      const document = chooseVpc(await documentsOf(stateDir), vpc, [from, to]);
      const taps = await routerTaps(document.vni, runProgram);
      if (taps === null) throw new Failure(`the router of VPC ${document.vpc_id} does not exist`, EXIT.failure);
      const underlay_address = document.underlay_address ??
        await underlayAddress({ given: null, local: null, state_dir: stateDir });
      const { steps, passes } = trace({ document, taps, underlay_address, from, to, port });
      for (const step of steps) stdout.write(`${step}\n`);
      if (!passes) throw new Failure("the packet stops on this node", EXIT.failure);
    }) as AnyCommand;
}

/**
 * Throws a Failure if a stored file is damaged or the directory does not exist. Opening the store would create the
 * directory.
 */
async function documentsOf(state_dir: string): Promise<readonly NetworkDocument[]> {
  if (!existsSync(state_dir)) {
    throw new Failure(`there is no directory ${state_dir}; set --state-dir to the agent's directory`, EXIT.failure);
  }
  const lines: string[] = [];
  const store = await openDocumentStore(documentsFolder(state_dir), (line) => void lines.push(line));
  if (lines[0] !== undefined) throw new Failure(lines[0], EXIT.failure);
  return store.all();
}

/** Returns the VPC with this id, or without an id the VPC in which a NIC of this node has one of the addresses. */
export function chooseVpc(
  documents: readonly NetworkDocument[],
  vpc: string | undefined,
  addresses: readonly string[],
): NetworkDocument {
  const by = (how: "address" | "block") =>
    documents.filter((document) => addresses.some((address) => localBy(document, address) === how));
  // The allowed block of a NIC may be as large as 0.0.0.0/0. So VPCs with a NIC that has one of the addresses come
  // first. VPCs in which only a block contains an address are considered if there is no such VPC.
  const found = by("address");
  const fitting = vpc !== undefined
    ? documents.filter(({ vpc_id }) => vpc_id === vpc)
    : found.length > 0
    ? found
    : by("block");
  const [document, ...more] = fitting;
  if (document === undefined) {
    throw new Failure("no VPC of this node fits; check the addresses and --vpc", EXIT.not_found);
  }
  if (more.length === 0) return document;
  throw usageFailure(
    `several VPCs have these addresses; choose one with --vpc: ${fitting.map((each) => each.vpc_id).join(", ")}`,
  );
}
