// Creates nodes, and the underlay that joins them to the server. The names of the machine's network devices contain a
// random number, so two test runs on one machine rarely affect each other. The underlay is a bridge of the machine;
// close() deletes it.
import { randomInt } from "node:crypto";
import { ipOfMachine as ip, type NodeNamespace, openNodeNamespace } from "./node-namespace.ts";

/** Host numbers in the underlay of a test: the server's, and the first node's. */
const SERVER_HOST = 1;
const FIRST_NODE_HOST = 11;

export type Nodes = {
  /** The server's address on the underlay. */
  readonly address: string;
  readonly nodes: readonly NodeNamespace[];
  close(): Promise<void>;
};

export async function openNodes(count: number): Promise<Nodes> {
  // A random number, so that two runs on one machine rarely choose the same underlay.
  const number = randomInt(256);
  const underlay = `u${number}`;
  const of = (host: number) => `198.18.${number}.${host}`;
  const nodes = await Promise.all(Array.from({ length: count }, () => openNodeNamespace({ own_network: true })));
  await ip("link", "add", underlay, "type", "bridge");
  await ip("addr", "add", `${of(SERVER_HOST)}/24`, "dev", underlay);
  await ip("link", "set", underlay, "up");
  for (const [index, node] of nodes.entries()) {
    const outer = `${underlay}n${index}`;
    await ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", String(node.pid));
    await ip("link", "set", outer, "master", underlay, "up");
    await node.run("ip", "addr", "add", `${of(FIRST_NODE_HOST + index)}/24`, "dev", "eth0");
    await node.run("ip", "link", "set", "eth0", "up");
  }
  return {
    address: of(SERVER_HOST),
    nodes,
    close: async () => {
      for (const each of nodes) await each.close();
      await ip("link", "del", underlay);
    },
  };
}
