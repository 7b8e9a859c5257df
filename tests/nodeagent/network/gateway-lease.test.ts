// Tests how long a node runs its NAT gateways: for 60 s after the last answered poll was sent (docs/networking.md,
// "Where NAT gateways run"). The driver of the tests only records the requests of the agent.
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDocumentStore } from "../../../nodeagent/network/document-store.ts";
import type { NetworkDriver } from "../../../nodeagent/network/network-driver.ts";
import { createNodeNetwork, type NodeNetwork } from "../../../nodeagent/network/node-network.ts";
import { simulatedNetwork } from "../../../nodeagent/network/simulated.ts";
import type { NetworkPollView } from "../../../src/contract/network-document.ts";
import type { FakeAnswer } from "../../cli/fake-environment.ts";
import { documentOf, NAT, type TestVpc } from "../../networks/documents.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary-folder.ts";
import { APPROVED, registered, reports, runAgent, stateDir } from "../agent.ts";

const VPC: TestVpc = { vni: 4_096, machines: [], rules: [], edge: "n3", routes: [] };
const VPC_ID = `vpc-${VPC.vni}`;
const WITH = documentOf(VPC, "n3", 7);
const WITHOUT = documentOf({ ...VPC, edge: "n1" }, "n3", 8);
const NOTHING_NEW = { vpcs: [], gone: [] };

let folder: TemporaryFolder;
let now_s: number;
/** The requests of the agent to the kernel: the applied generations, and the leases in seconds. */
let done: string[];
let trouble: string | null;
beforeEach(async () => {
  folder = await temporaryFolder("gateway-lease");
  [now_s, done, trouble] = [1_000, [], null];
});
afterEach(() => folder.remove());

async function open(): Promise<NodeNetwork> {
  const driver: NetworkDriver = {
    ...simulatedNetwork(),
    apply: ({ generation }) => {
      if (trouble !== null) return Promise.reject(new Error(trouble));
      done.push(`apply ${generation}`);
      return Promise.resolve({ changes: 0, ruleset_replaced: false });
    },
    holdGateways: (_, addresses, left_s) => Promise.resolve(void done.push(`${addresses.join(" ")} for ${left_s} s`)),
  };
  const store = await openDocumentStore(folder.path, () => {});
  return createNodeNetwork({ driver, store, log: () => {}, monotonicMs: () => now_s * 1_000 });
}

/** Lets the control plane answer a poll after some seconds, and returns the agent's requests to the kernel. */
async function poll(
  network: NodeNetwork,
  { held_s = 0, vpcs = [], gone = [] }: { held_s?: number; vpcs?: NetworkPollView["vpcs"]; gone?: string[] } = {},
): Promise<readonly string[]> {
  const sent_s = now_s;
  now_s += held_s;
  done = [];
  await network.answered(sent_s * 1_000, { vpcs, gone });
  for (const vpc_id of gone) await network.remove(vpc_id);
  for (const document of vpcs) await network.take(document);
  return done;
}

const both = (left_s: number) => `${NAT.ipv4} ${NAT.ipv6} for ${left_s} s`;

test("two answered polls start the gateways, and later answered polls renew them for 60 s from the time at which the poll was sent", async () => {
  const network = await open();
  expect(
    await poll(network, { vpcs: [WITH] }),
    "the first answer starts no gateway: the server may not have known that the node is back",
  ).toEqual([
    "apply 7",
  ]);
  expect(await poll(network)).toEqual(["apply 7", both(60)]);
  expect(await poll(network, { held_s: 2 }), "no second renewal within 5 s").toEqual([]);
  now_s += 10;
  expect(await poll(network, { held_s: 10 })).toEqual([both(50)]);
});

test("without an answered poll, neither a repair nor a restart renews the gateways", async () => {
  const network = await open();
  await poll(network, { vpcs: [WITH] });
  await poll(network);
  now_s += 59;
  done = [];
  await network.repair();
  expect(done, "the lease does not get longer").toEqual(["apply 7", both(1)]);
  now_s += 2;
  done = [];
  await network.repair();
  const restarted = await open();
  await restarted.restore();
  expect(done).toEqual(["apply 7", "apply 7"]);
});

test("after a silence of 60 s the second answered poll starts the gateways, if they are still on this node", async () => {
  const network = await open();
  await poll(network, { vpcs: [WITH] });
  await poll(network);
  now_s += 61;
  expect(await poll(network)).toEqual([]);
  expect(await poll(network), "the document is applied again, too").toEqual(["apply 7", both(60)]);
  now_s += 61;
  expect(await poll(network)).toEqual([]);
  expect(await poll(network, { vpcs: [WITHOUT] })).toEqual(["apply 7", "apply 8"]);
});

test("an answer that arrives 60 s after the last answered poll was sent renews nothing", async () => {
  const network = await open();
  await poll(network, { vpcs: [WITH] });
  await poll(network);
  expect(await poll(network, { held_s: 60 })).toEqual([]);
});

test.each([
  ["cannot be applied", WITHOUT, "nft is not installed"],
  // The types forbid these two documents, which a server of another release could send.
  ["has an unknown format", { ...WITHOUT, format: 2 } as unknown as typeof WITHOUT, null],
  ["is malformed", { ...WITHOUT, nat_gateways: "none" } as unknown as typeof WITHOUT, null],
])(
  "the gateways are not renewed if the newest document does not have them, even if this document %s",
  async (_, document, problem) => {
    const network = await open();
    await poll(network, { vpcs: [WITH] });
    await poll(network);
    trouble = problem;
    now_s += 10;
    expect(await poll(network, { vpcs: [document] })).toEqual([]);
    now_s += 10;
    expect(await poll(network)).toEqual([]);
  },
);

test("a document with the gateways keeps them renewed, even if the document cannot be applied", async () => {
  const network = await open();
  await poll(network, { vpcs: [WITH] });
  await poll(network);
  trouble = "nft is not installed";
  now_s += 10;
  expect(await poll(network, { vpcs: [{ ...WITH, generation: 8 }] })).toEqual([both(60)]);
  now_s += 10;
  expect(await poll(network)).toEqual([both(60)]);
});

test("the gateways of a VPC that has left the node are not renewed", async () => {
  const network = await open();
  await poll(network, { vpcs: [WITH] });
  await poll(network);
  now_s += 10;
  expect(await poll(network, { gone: [VPC_ID] })).toEqual([]);
});

test("a node with a gateway asks for short polls, and for polls without a wait until the gateway runs", async () => {
  const network = await open();
  expect(network.pollWaitS(30)).toBe(30);
  await poll(network, { vpcs: [WITH] });
  expect(network.pollWaitS(30)).toBe(0);
  await poll(network);
  expect(network.pollWaitS(30)).toBe(10);
  expect(network.pollWaitS(5)).toBe(5);
  now_s += 21;
  expect(network.pollWaitS(30), "an answer was lost").toBe(0);
  await poll(network, { ...NOTHING_NEW, vpcs: [WITHOUT] });
  expect(network.pollWaitS(30)).toBe(30);
});

test("each answered poll counts as contact, and a failed poll does not", async () => {
  const waits: unknown[] = [];
  const view = (vpcs: NetworkPollView["vpcs"]): FakeAnswer => ({ body: { nodes: [], vpcs, gone: [] } });
  const busy: FakeAnswer = { status: 503, body: { message: "Service Unavailable" } };
  const answers = [view([WITH]), busy, view([]), view([]), busy];
  await runAgent({
    ...reports(Infinity),
    "/v1/agent/register": () => registered(),
    "/v1/agent/register/status": () => APPROVED,
    "/v1/agent/network-realization": () => ({ body: null }),
    "/v1/agent/network/poll": ({ body }, agent) => {
      waits.push((body as { wait: number }).wait);
      const answer = answers.shift();
      if (answer === undefined) agent.abort();
      return answer ?? busy;
    },
  }, { state_dir: stateDir() });
  expect(waits).toEqual([30, 0, 0, 10, 10, 10]);
});
