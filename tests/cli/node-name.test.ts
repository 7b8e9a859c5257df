// Tests how a command finds a node by its UUID, a prefix of its UUID, or its hostname.
import { expect, test } from "vitest";
import { opsctl } from "./opsctl.ts";
import { node } from "./records.ts";

const A = "aaaa1111-0000-4000-8000-000000000001";
const B = "aaaa2222-0000-4000-8000-000000000002";
const C = "cccc3333-0000-4000-8000-000000000003";
const ALL = [
  node({ server_uuid: A, hostname: "alpha" }),
  node({ server_uuid: B, hostname: "beta" }),
  node({ server_uuid: C, hostname: "aaaa1" }),
];

async function disable(name: string) {
  const ran = await opsctl(["cn", "disable", name, "--yes"], {
    server: ({ method, path }) => ({
      body: method === "GET" ? { items: ALL } : node({ server_uuid: path.split("/")[3] }),
    }),
  });
  return { ...ran, posted: ran.asked.filter(({ method }) => method === "POST").map(({ path }) => path) };
}

test("a complete UUID is used without a request for the list of nodes", async () => {
  const ran = await disable(A);
  expect(ran.asked).toHaveLength(1);
  expect(ran.posted).toEqual([`/v1/cns/${A}/disable`]);
});

test.each([["beta", B], ["BETA", B], ["aaaa2", B], ["CCCC", C]])("the name %s matches one node", async (name, id) => {
  expect((await disable(name)).posted).toEqual([`/v1/cns/${id}/disable`]);
});

test("a UUID prefix that two nodes share is rejected, and both nodes are listed", async () => {
  const ran = await disable("aaaa");
  expect(ran.code).toBe(2);
  expect(ran.posted).toEqual([]);
  expect(ran.err()).toContain(`${A}  alpha`);
  expect(ran.err()).toContain(`${B}  beta`);
});

test("a hostname that is also a prefix of another node's UUID is rejected", async () => {
  const ran = await disable("aaaa1");
  expect(ran.code).toBe(2);
  expect(ran.posted).toEqual([]);
});

test("a UUID prefix of three characters is too short", async () => {
  const ran = await disable("ccc");
  expect(ran.code).toBe(3);
  expect(ran.posted).toEqual([]);
});

test("an unknown name exits 3", async () => {
  expect((await disable("gamma")).code).toBe(3);
});
