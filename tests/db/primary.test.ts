// With several servers in DATABASE_URL, connections go to the server that accepts writes. If another server takes over
// this role, the connections move to the other server. The standby of these tests is a server that forbids writes.
// tests/guides/automatic-failover-trial.ts has a real standby.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openListener } from "../../src/db/listener.ts";
import { migrate } from "../../src/db/migrate.ts";
import { type Connection, isConnectionError, openClient, openPool } from "../../src/db/pool.ts";
import { createPrimary } from "../../src/db/primary.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";

const RETRY_MS = 50;
const PATIENCE = { timeout: 20_000, interval: RETRY_MS };

let first: OwnCluster;
let second: OwnCluster;
let both: string;
let secondAdmin: Connection | undefined;

beforeAll(async () => {
  [first, second] = await Promise.all([ownCluster(), ownCluster()]);
  const [one, other] = [new URL(first.url), new URL(second.url)];
  // The server that forbids writes is the first in the URL, so each connection must skip it.
  both = first.url.replace(one.host, `${other.host},${one.host}`);
  // Both servers need the same password, because the URL has one password. A standby has the passwords of its primary.
  const user = decodeURIComponent(one.username);
  await atSecond(`alter role ${user} password '${decodeURIComponent(one.password)}'`);
  await atSecond(`alter role ${user} set default_transaction_read_only = on`);
}, 120_000);

afterAll(async () => {
  await secondAdmin?.end();
  await Promise.all([first?.remove(), second?.remove()]);
});

/** Runs a statement at the second server. Uses a connection that was opened while the server allowed writes. */
async function atSecond(statement: string): Promise<void> {
  secondAdmin ??= await openClient({ url: second.url });
  await secondAdmin.query(statement);
}

const port = "select inet_server_port() as port";
const portOf = (cluster: OwnCluster) => Number(new URL(cluster.url).port);

test("after a failure that is not a network failure, no server is probed", async () => {
  const probed: string[] = [];
  const primary = createPrimary(["a", "b"], (url) => Promise.resolve(void probed.push(url)));
  await expect(primary.open(() => Promise.reject(new TypeError("a bug")))).rejects.toThrow("a bug");
  expect(probed).toEqual([]);
});

test("if many connections fail, each server is probed once, and all connections move to the server that accepts writes", async () => {
  const probed: string[] = [];
  const primary = createPrimary(["a", "b"], (url) => {
    probed.push(url);
    return url === "b" ? Promise.resolve() : Promise.reject(new Error("standby"));
  });
  const connect = () => {
    if (primary.current() === "b") return Promise.resolve("b");
    return Promise.reject(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
  };
  const opened = await Promise.all(Array.from({ length: 20 }, () => primary.open(connect)));
  expect(new Set(opened)).toEqual(new Set(["b"]));
  expect(probed).toEqual(["a", "b"]);
});

test("connections follow the server that accepts writes", async () => {
  const pool = openPool({ url: both });
  const reconnected = Promise.withResolvers<void>();
  const listener = openListener(both, { channel: "berth", onNotify: () => {}, onReconnect: reconnected.resolve });
  try {
    await listener.ready;
    const ports = async () => [(await pool.query(port)).rows[0].port, (await pool.byKey.query(port)).rows[0]];
    expect(await ports()).toEqual([portOf(first), { port: portOf(first) }]);
    expect((await migrate(both)).applied.length).toBeGreaterThan(0);

    await first.kill("SIGKILL");
    await expect.poll(() => pool.query(port).catch(isConnectionError), PATIENCE).toBe(true);
    await expect(openClient({ url: both })).rejects.toSatisfy(isConnectionError);
    await expect(migrate(both)).rejects.toThrow();

    await atSecond(`alter role ${new URL(second.url).username} reset default_transaction_read_only`);
    await expect.poll(() => ports().catch(() => []), PATIENCE).toEqual([portOf(second), { port: portOf(second) }]);
    await reconnected.promise;
  } finally {
    await listener.close();
    await pool.close();
  }
}, 60_000);
