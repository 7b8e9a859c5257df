// Tests how a process that already knows the nodes of a VPC finds the generations that these nodes have applied. The
// process reads only the reports, and its answer equals the answer of a process that knows nothing.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Kysely, KyselyPlugin } from "kysely";
import { findRealized } from "../../actors/realization/reads.ts";
import type { Realized } from "../../src/contract/network.ts";
import type { Database } from "../../src/db/tables.ts";
import { okOf } from "../support/control-plane.ts";
import { type NetworkFixture, type NetworkNode, openNetworkFixture } from "./network-fixture.ts";

let f: NetworkFixture;
/** The statements of `db`, as text. */
const statements: string[] = [];
let db: Kysely<Database>;
beforeAll(async () => {
  f = await openNetworkFixture();
  db = f.t.db.kysely.withPlugin(recorder);
});
afterAll(() => f.t.close());
beforeEach(async () => {
  for (const node of [f.one, f.two]) await f.apply(node);
});

const transformResult: KyselyPlugin["transformResult"] = ({ result }) => Promise.resolve(result);
const recorder: KyselyPlugin = {
  transformQuery: ({ node }) => {
    statements.push(JSON.stringify(node));
    return node;
  },
  transformResult,
};

/** Returns the applied generations. Fails if the answer differs from the answer of a process that knows nothing. */
async function realized(): Promise<Realized> {
  statements.length = 0;
  const [found] = (await findRealized(db, [f.vpc.id])).values();
  const unknowing = f.t.db.kysely.withPlugin({ transformQuery: ({ node }) => node, transformResult });
  expect([...(await findRealized(unknowing, [f.vpc.id])).values()]).toEqual([found]);
  return found!;
}
/** Returns whether the last call of realized() did not read the nodes of the VPC. */
const wasKnown = () => statements.every((each) => !each.includes("vpc_node"));
const report = async (node: NetworkNode, fields: object) => okOf(await f.tryReport(node, f.vpc.id, fields as never));

test("the second answer for a generation is found without reading the nodes of the VPC", async () => {
  const first = await realized();
  expect(first).toMatchObject({ nodes: 2, nodes_pending: 0, applied_generation: first.desired_generation });
  expect(await realized()).toEqual(first);
  expect(wasKnown()).toBe(true);
});

test("a change of the VPC is pending on every node until the node has applied it", async () => {
  const before = await realized();
  await f.n.rule(f.vpc.id);
  const after = await realized();
  expect(after).toMatchObject({ nodes_pending: 2, applied_generation: before.desired_generation });
  expect(wasKnown()).toBe(false);
  await f.apply(f.one);
  expect(await realized()).toMatchObject({ nodes_pending: 1, applied_generation: before.desired_generation });
  expect(wasKnown()).toBe(true);
  await f.apply(f.two);
  expect(await realized()).toMatchObject({ nodes_pending: 0, applied_generation: after.desired_generation });
  expect(wasKnown()).toBe(true);
});

test("a node that fails after it had applied the same generation is pending again", async () => {
  const { desired_generation: generation } = await realized();
  await report(f.two, { generation, status: "failed", message: "nft: no such device" });
  const failed = await realized();
  expect(failed).toMatchObject({ nodes_pending: 1, realizations: [{ status: "failed" }, { status: "applied" }] });
  expect(await realized()).toEqual(failed);
  expect(wasKnown()).toBe(true);
});

test("a report of a node that left the VPC does not hide a failed node", async () => {
  const { desired_generation: generation } = await realized();
  const { idle } = f;
  await f.t.db.query(
    `insert into vpc_realization (vpc_id, server_uuid, generation, status, applied_generation)
       values ($1, $2, $3, 'applied', $3)`,
    [f.vpc.id, idle.server_uuid, generation],
  );
  await report(f.two, { generation, status: "failed", message: "nft: no such device" });
  expect(await realized()).toMatchObject({ nodes: 2, nodes_pending: 1 });
  await f.t.db.query("delete from vpc_realization where server_uuid = $1", [idle.server_uuid]);
});

test("a new node of the VPC is pending before it has the document", async () => {
  await realized();
  const [added] = await f.spread(1);
  for (const node of [f.one, f.two]) await f.apply(node);
  expect(await realized()).toMatchObject({ nodes: 3, nodes_pending: 1, applied_generation: null });
  expect(await realized()).toMatchObject({ nodes: 3, nodes_pending: 1, applied_generation: null });
  expect(wasKnown()).toBe(true);
  await f.apply(added!);
  expect(await realized()).toMatchObject({ nodes: 3, nodes_pending: 0 });
});
