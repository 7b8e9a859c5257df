// Creates the objects of the tests that use the console with the keyboard alone: two nodes, and an instance on one of
// them.
import { addNode, type Node } from "../compute/compute-fixture.ts";
import { type InstanceFixture, makeInstance, openInstanceFixture } from "../compute/instance-fixture.ts";
import { sendImage } from "../compute/send-image.ts";
import { okOf } from "../support/control-plane.ts";
import type { ConsoleSite } from "./site.ts";

/** The time limit of one flow on a busy machine, in milliseconds. The answer to a trace alone may take 10 s. */
export const LIMIT_MS = 120_000;

export type FlowObjects = {
  readonly g: InstanceFixture;
  readonly web1: { readonly id: string };
  readonly node: Node;
  /** A node whose agent claims no jobs. */
  readonly idle: Node;
};

export async function makeFlowObjects(site: ConsoleSite): Promise<FlowObjects> {
  const node = await addNode(site, {}, { hostname: "r1-u1" });
  serve(site, node);
  const g = await openInstanceFixture(site, {
    url: "https://images.example/linux",
    sha256: "5e".repeat(32),
    size_bytes: 2 ** 30,
  });
  const web1 = okOf(await makeInstance(g, { name: "web1" }));
  const idle = await addNode(site, {}, { hostname: "r1-u2" });
  for (const { server_uuid } of [node, idle]) {
    okOf(await site.call("PATCH", `/v1/cns/${server_uuid}/placement`, { body: { labels: { rack: "a3" } } }));
  }
  return { g, web1, node, idle };
}

/** Acts as the agent of a node and does its jobs until the server ends. */
function serve(site: ConsoleSite, of: Node): void {
  const all = async () => {
    for (;;) {
      const job = await of.take();
      if (job.kind.kind === "create_image") await sendImage(site, { node: of, job, content: "the disk of web1" });
      await of.complete(job, job.kind.kind.includes("snapshot") ? { consistency: "crash" } : undefined);
    }
  };
  all().catch(() => {});
}
