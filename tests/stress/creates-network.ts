// Opens the network between agents and servers. The network causes faults while the agents work: it drops either side
// of a connection, cuts messages, and stops passing data.
import { type NetworkProxy, openProxy } from "../support/network-proxy.ts";
import { sleep } from "./waiting.ts";

export type AgentNetworks = {
  /** The ports to which agents connect, instead of the servers' own. */
  readonly ports: readonly number[];
  /** Causes all faults in turn, on one network after the other. */
  causeFaults(): Promise<void>;
  happened(): Readonly<Record<string, number>>;
  close(): Promise<void>;
};

/** The time between two faults, and the time for which the network passes nothing. */
const PAUSE_MS = 1_000;
const SILENCE_MS = 3_000;
/** The number of bytes after which a message is cut: in the middle of an answer that contains a job. */
const CUT_AFTER_BYTES = 300;

const FAULTS: readonly ((network: NetworkProxy) => Promise<void> | void)[] = [
  (network) => network.loseSide("client"),
  (network) => network.cutAfter("to_client", CUT_AFTER_BYTES),
  (network) => network.cutAfter("to_server", CUT_AFTER_BYTES),
  async (network) => {
    network.silence();
    await sleep(SILENCE_MS);
    network.heal();
  },
  // This fault is last, because an agent waits long for the missing answer.
  (network) => network.loseSide("server"),
];

export async function openAgentNetworks(server_ports: readonly number[]): Promise<AgentNetworks> {
  const networks = await Promise.all(server_ports.map((target_port) => openProxy({ target_port })));
  const sum = (of: (network: NetworkProxy) => number) => networks.reduce((total, network) => total + of(network), 0);
  return {
    ports: networks.map(({ port }) => port),
    async causeFaults() {
      for (const fault of FAULTS) {
        for (const network of networks) {
          await fault(network);
          await sleep(PAUSE_MS);
        }
      }
    },
    happened: () => ({
      "half-open connections of agents": sum(({ counters }) => counters.half_open),
      "chunks sent into half-open connections": sum(({ counters }) => counters.unheard),
      "messages of agents that were cut": sum(({ counters }) => counters.cut),
      "chunks withheld during a silence": sum(({ counters }) => counters.swallowed),
    }),
    close: async () => void await Promise.all(networks.map((network) => network.close())),
  };
}
