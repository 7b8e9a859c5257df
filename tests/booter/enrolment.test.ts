// Enrols a bare machine with the real control plane, from the machine's announce over AMQP until its node is approved.
// Some tests restart the booter during the enrolment.
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { amqpLogin } from "../../booter/amqp/rights.ts";
import { ack, type AmqpClient, type Delivery, type Login, login, openClient } from "../../cli/internal/amqp/client.ts";
import { okOf } from "../support/control-plane.ts";
import { newMac, sysinfoOf } from "../setup/machine.ts";
import { actAsAgent } from "./amqp-agent.ts";
import {
  discover,
  dotted,
  httpAsk,
  loginIn,
  openRelay,
  openSite,
  type Relay,
  scriptPath,
  type Site,
  STAMP,
} from "./site.ts";

let site: Site;
let relay: Relay;
beforeAll(async () => {
  site = await openSite();
  relay = await openRelay(site);
});
afterAll(async () => {
  relay.close();
  await site.close();
});
const open: AmqpClient[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) each.close();
  await expect.poll(() => site.booter.enrolment.machines(), { timeout: 20_000 }).toBe(0);
});

type Bare = {
  readonly mac: string;
  readonly address: string;
  readonly server_uuid: string;
  readonly sysinfo: Record<string, unknown>;
  readonly login: Login;
};

/** Netboots a machine. Returns its address and the AMQP login of its kernel arguments. */
async function netbooted(): Promise<Bare> {
  const mac = newMac();
  const reply = await relay.ask(discover(mac));
  const address = dotted(reply.yiaddr);
  const { text } = await httpAsk(site.booter.ports.http, scriptPath(reply), { from: address });
  const amqp_login = loginIn(text);
  const server_uuid = randomUUID();
  const sysinfo = {
    ...sysinfoOf([mac]),
    UUID: server_uuid,
    Hostname: "bare-7",
    "Boot Parameters": { rabbitmq: `${amqp_login.user}:${amqp_login.password}:127.0.0.1:5672`, root_shadow: "$6$x$y" },
  };
  return { mac, address, server_uuid, sysinfo, login: amqp_login };
}

/** Connects the machine's agent. The agent then listens for messages, and publishes its inventory. */
async function listening(bare: Bare): Promise<AmqpClient> {
  const client = await openClient(site.booter.ports.amqp!, bare.address);
  open.push(client);
  await login(client, bare.login);
  await actAsAgent(client, bare);
  const request = await client.delivery();
  expect(request.key).toMatch(/^ur\.broadcast\.sysinfo\.[0-9a-f]+$/);
  ack(client, request);
  client.publish(1, `ur.sysinfo.${bare.server_uuid}.a1`, JSON.stringify(bare.sysinfo));
  return client;
}

const stateOf = async ({ server_uuid }: Bare) =>
  (await site.t.call("GET", `/v1/system/cns/${server_uuid}`)).body?.state;
const announced = (bare: Bare) => expect.poll(() => stateOf(bare), { timeout: 20_000 }).toBe("awaiting_setup");
const approve = async ({ server_uuid }: Bare) =>
  okOf(
    await site.t.call("POST", `/v1/cns/${server_uuid}/approve-setup`, {
      body: { disk_layout: "mirror", hostname: "node-7" },
    }),
  );

const runFile = ({ server_uuid }: Bare) => readFile(join(site.folder, "state/runs", `${server_uuid}.json`), "utf8");

type Shipped = {
  readonly epoch: number;
  readonly token: string;
  readonly delivery: Delivery;
  readonly message: Record<string, unknown>;
};

/** Waits for the announce, approves the setup and receives the script. */
async function shipped(bare: Bare, client: AmqpClient): Promise<Shipped> {
  await announced(bare);
  await approve(bare);
  await site.booter.enrolment.pass();
  const delivery = await client.delivery();
  const message = JSON.parse(delivery.body);
  ack(client, delivery);
  return { epoch: Number(delivery.key.split("-").at(-1)), token: message.env.SETUP_TOKEN, delivery, message };
}

const setup = (bare: Bare, { token }: { token: string }, path: string, body?: string) =>
  httpAsk(site.booter.ports.http, `/setup/${path}`, {
    from: bare.address,
    headers: { "x-setup-token": token },
    ...(body === undefined ? {} : { method: "POST", body }),
  });

describe("a bare machine", () => {
  test("becomes an approved node after its announce, and its record becomes enrolled", async () => {
    const bare = await netbooted();
    const client = await listening(bare);
    const run = await shipped(bare, client);
    expect(run.message).toMatchObject({
      type: "script",
      args: [],
      env: { BOOTER_URL: `http://127.0.0.1:${site.booter.ports.http}` },
    });
    const values = await setup(bare, run, "values");
    expect(values.text).toContain(`server_uuid\t${bare.server_uuid}\n`);
    expect(values.text).toContain("hostname\tnode-7\n");
    expect(values.text).toMatch(/^api_key\t\S+$/m);
    expect((await setup(bare, run, "report", "progress\tdry_run\t35\n")).status).toBe(200);
    const shown = (await site.t.call("GET", `/v1/system/cns/${bare.server_uuid}`)).body;
    expect(shown.setup_progress).toMatchObject({ epoch: run.epoch, step: "dry_run", percent: 35 });
    expect((await setup(bare, run, "report", "complete\tcomplete\t100\n")).status).toBe(200);
    expect(await stateOf(bare)).toBe("approved");
    expect(okOf(await site.t.call("GET", `/v2/cn-boot/${bare.mac}`))).toMatchObject({
      state: "enrolled",
      server_uuid: bare.server_uuid,
      assigned_pi: STAMP,
    });
    // After the report, the agent's message about the end of the script changes nothing.
    client.publish(1, `ur.execute-reply.${bare.server_uuid}.setup-${run.epoch}`, JSON.stringify({ exit_status: 0 }));
    expect((await setup(bare, run, "report", "failed\tcomplete\t0\nlate")).status).toBe(409);
    // The script repeats its last report if the answer was lost. The booter must accept the repeated report, because
    // the script restarts the machine only after an accepted report.
    expect((await setup(bare, run, "report", "complete\tcomplete\t100\n")).status).toBe(200);
    expect(await stateOf(bare)).toBe("approved");
  });

  test("is announced with its host name and without its secrets", async () => {
    const bare = await netbooted();
    await listening(bare);
    await announced(bare);
    const { rows } = await site.t.db.query<{ sysinfo: unknown; hostname: string }>(
      "select sysinfo, hostname from cn where server_uuid = $1",
      [bare.server_uuid],
    );
    expect(rows[0]?.hostname).toBe("bare-7");
    expect(JSON.stringify(rows[0]?.sysinfo)).not.toMatch(/rabbitmq|root_shadow/);
  });

  test("is not announced if its inventory lacks the network port from which it booted", async () => {
    const bare = await netbooted();
    const other = { ...bare, sysinfo: { ...bare.sysinfo, ...sysinfoOf([newMac()]) } };
    await listening(other);
    await expect.poll(() => site.booter.counters.valueOf("announce_refused_total", { reason: "other_machine" }), {
      timeout: 20_000,
    }).toBeGreaterThan(0);
    expect(await stateOf(bare)).toBeUndefined();
  });

  test("can log in only from the address of its record", async () => {
    const bare = await netbooted();
    const other = await netbooted();
    const client = await openClient(site.booter.ports.amqp!, other.address);
    open.push(client);
    await expect(login(client, bare.login)).rejects.toThrow("ended");
    expect(amqpLogin(new Uint8Array(32), bare.mac)).not.toEqual(bare.login);
  });
});

describe("a setup", () => {
  test("that fails is reported with the machine's message of at most 512 bytes, and no API key is bound to the node", async () => {
    const bare = await netbooted();
    const run = await shipped(bare, await listening(bare));
    const message = "ä".repeat(400);
    expect((await setup(bare, run, "report", `failed\tdry_run\t0\n${message}`)).status).toBe(200);
    const shown = (await site.t.call("GET", `/v1/system/cns/${bare.server_uuid}`)).body;
    expect(shown).toMatchObject({ state: "awaiting_setup", last_setup_error: "ä".repeat(256), bound_api_key_id: null });
    expect((await setup(bare, run, "values")).status).toBe(404);
  });

  test("whose script ends without a report fails with the exit status that the agent sends", async () => {
    const bare = await netbooted();
    const client = await listening(bare);
    const run = await shipped(bare, client);
    const reply = { exit_status: "ENOENT", stdout: "", stderr: "no such\tprogram\n" };
    client.publish(1, `ur.execute-reply.${bare.server_uuid}.setup-${run.epoch}`, JSON.stringify(reply));
    await announced(bare);
    const shown = (await site.t.call("GET", `/v1/system/cns/${bare.server_uuid}`)).body;
    expect(shown.last_setup_error).toBe("the setup script ended with ENOENT: no such program");
  });

  test("fails when its machine restarts before the end", async () => {
    const bare = await netbooted();
    const client = await listening(bare);
    await shipped(bare, client);
    client.publish(1, `ur.startup.${bare.server_uuid}`, JSON.stringify(bare.sysinfo));
    await announced(bare);
  });

  test("of another booter ends at once when its machine starts from this booter, which then sets the machine up", async () => {
    const bare = await netbooted();
    (await listening(bare)).close();
    await announced(bare);
    await expect.poll(() => site.booter.enrolment.machines(), { timeout: 20_000 }).toBe(0);
    await approve(bare);
    // The other booter fetches the bundle, and then stops.
    const path = `/v2/booter/cns/${bare.server_uuid}`;
    const { epoch } = okOf(await site.t.call("POST", `${path}/bundle`));
    const client = await listening(bare);
    await site.booter.enrolment.pass();
    expect(await stateOf(bare)).toBe("setting_up");
    client.publish(1, `ur.startup.${bare.server_uuid}`, JSON.stringify(bare.sysinfo));
    await announced(bare);
    expect((await site.t.call("GET", `/v1/system/cns/${bare.server_uuid}`)).body.last_setup_error)
      .toBe("the machine restarted and booted from another booter before its setup ended; approve the setup again");
    const run = await shipped(bare, client);
    // The other booter returns and reports for its old run.
    expect((await site.t.call("POST", `${path}/setup-complete`, { body: { epoch } })).status).toBe(409);
    expect((await site.t.call("POST", `${path}/setup-failed`, { body: { epoch, reason: "late" } })).status).toBe(409);
    expect((await setup(bare, run, "report", "complete\tcomplete\t100\n")).status).toBe(200);
    expect(await stateOf(bare)).toBe("approved");
  });

  test("can be approved again after a failure, and is then delivered with a new epoch", async () => {
    const bare = await netbooted();
    const client = await listening(bare);
    const first = await shipped(bare, client);
    await setup(bare, first, "report", "failed\tlayout\t0\nno disk");
    const second = await shipped(bare, client);
    expect(second.epoch).not.toBe(first.epoch);
    expect((await setup(bare, first, "report", "complete\tcomplete\t100\n")).status).toBe(404);
    expect((await setup(bare, second, "report", "complete\tcomplete\t100\n")).status).toBe(200);
  });

  test("serves its values only to its machine, and only until the machine's first report", async () => {
    const bare = await netbooted();
    const other = await netbooted();
    const run = await shipped(bare, await listening(bare));
    expect((await setup({ ...bare, address: other.address }, run, "values")).status).toBe(404);
    expect((await setup(bare, { token: "0".repeat(48) }, "values")).status).toBe(404);
    const [once, twice] = [await setup(bare, run, "values"), await setup(bare, run, "values")];
    expect([once.status, twice.text]).toEqual([200, once.text]);
    await setup(bare, run, "report", "progress\tclock\t5\n");
    expect((await setup(bare, run, "values")).status).toBe(404);
  });

  test("waits while its machine does not listen, and the booter does not fetch the bundle", async () => {
    const bare = await netbooted();
    const client = await listening(bare);
    await announced(bare);
    client.close();
    await expect.poll(() => site.booter.enrolment.machines(), { timeout: 20_000 }).toBe(0);
    await approve(bare);
    const before = site.link.calls.filter((each) => each.endsWith("/bundle")).length;
    await site.booter.enrolment.pass();
    expect(site.link.calls.filter((each) => each.endsWith("/bundle"))).toHaveLength(before);
    const again = await listening(bare);
    expect((await again.delivery()).key).toContain(`ur.execute.${bare.server_uuid}.setup-`);
  });
});

describe("a script that was sent over a connection that then broke", () => {
  /** Receives the script and returns its key and token. Does not acknowledge it. */
  const unacknowledged = async (bare: Bare, client: AmqpClient) => {
    const delivery = await client.delivery();
    expect(delivery.key).toMatch(new RegExp(`^ur\\.execute\\.${bare.server_uuid}\\.setup-`));
    return { key: delivery.key, token: JSON.parse(delivery.body).env.SETUP_TOKEN as string, delivery };
  };

  test("is repeated over the next connection with a new token, and only that token gets the values", async () => {
    const bare = await netbooted();
    const client = await listening(bare);
    await announced(bare);
    await approve(bare);
    await site.booter.enrolment.pass();
    const lost = await unacknowledged(bare, client);
    // On the same connection, the booter does not repeat the script.
    await site.booter.enrolment.pass();
    client.close();
    const again = await listening(bare);
    const second = await unacknowledged(bare, again);
    expect(second.key).toBe(`${lost.key}-2`);
    ack(again, second.delivery);
    expect((await setup(bare, lost, "values")).status).toBe(404);
    expect((await setup(bare, lost, "report", "failed\tvalues\t0\nlost")).status).toBe(404);
    // The end of the first script must not end the run.
    const end = JSON.stringify({ exit_status: 1, stderr: "no values" });
    again.publish(1, `ur.execute-reply.${bare.server_uuid}.${lost.key.split(".").at(-1)}`, end);
    expect((await setup(bare, second, "values")).status).toBe(200);
    expect((await setup(bare, second, "report", "complete\tcomplete\t100\n")).status).toBe(200);
    expect(await stateOf(bare)).toBe("approved");
  });

  test("is repeated after a restart of the booter", async () => {
    const bare = await netbooted();
    const client = await listening(bare);
    await announced(bare);
    await approve(bare);
    await site.booter.enrolment.pass();
    const lost = await unacknowledged(bare, client);
    client.close();
    await site.restart();
    const second = await unacknowledged(bare, await listening(bare));
    expect(second.key).toBe(`${lost.key}-2`);
    expect((await setup(bare, second, "values")).status).toBe(200);
  });

  test("is not repeated after the machine fetched its values", async () => {
    const bare = await netbooted();
    const client = await listening(bare);
    await announced(bare);
    await approve(bare);
    await site.booter.enrolment.pass();
    const run = await unacknowledged(bare, client);
    expect((await setup(bare, run, "values")).status).toBe(200);
    client.close();
    await listening(bare);
    await site.booter.enrolment.pass();
    await site.booter.enrolment.pass();
    expect((await setup(bare, run, "report", "complete\tcomplete\t100\n")).status).toBe(200);
  });
});

describe("a booter", () => {
  test("that restarts after the delivery does not deliver again, and accepts the reports of the run", async () => {
    const bare = await netbooted();
    const run = await shipped(bare, await listening(bare));
    await expect.poll(() => runFile(bare), { timeout: 20_000 }).toContain('"arrived":true');
    await site.restart();
    const again = await listening(bare);
    await site.booter.enrolment.pass();
    await site.booter.enrolment.pass();
    expect(await stateOf(bare)).toBe("setting_up");
    expect((await setup(bare, run, "values")).text).toContain("api_key\t");
    expect((await setup(bare, run, "report", "progress\tclock\t5\n")).status).toBe(200);
    expect((await setup(bare, run, "report", "complete\tcomplete\t100\n")).status).toBe(200);
    expect(await stateOf(bare)).toBe("approved");
    expect(site.log.filter(({ event, fields }) => event === "setup.shipped" && fields.server_uuid === bare.server_uuid))
      .toHaveLength(1);
    again.close();
  });

  test("that stopped after it fetched a bundle gets the same bundle again and delivers it", async () => {
    const bare = await netbooted();
    const client = await listening(bare);
    await announced(bare);
    await approve(bare);
    // This is the state after a kill of the booter: the idempotency key is on disk, the bundle is fetched, and nothing
    // is delivered.
    const idempotency_key = `setup-${randomUUID()}`;
    const bundle = await site.api().bundle(bare.server_uuid, idempotency_key);
    client.close();
    await site.booter.close();
    const path = join(site.folder, "state/runs", `${bare.server_uuid}.json`);
    const { writeDurably } = await import("../../booter/private-file.ts");
    await writeDurably(path, JSON.stringify({ server_uuid: bare.server_uuid, idempotency_key, delivered: null }));
    await site.restart();
    const again = await listening(bare);
    const { key } = await again.delivery();
    expect(key).toBe(`ur.execute.${bare.server_uuid}.setup-${bundle.epoch}`);
  });

  test("does not write the API key or the token to disk, and does not log the API key or the AMQP password", async () => {
    const bare = await netbooted();
    const run = await shipped(bare, await listening(bare));
    const { text } = await setup(bare, run, "values");
    const api_key = /^api_key\t(.*)$/m.exec(text)![1]!;
    const state = join(site.folder, "state");
    for (const name of await readdir(state, { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue;
      const kept = await readFile(join(name.parentPath, name.name), "utf8");
      expect(kept).not.toContain(api_key);
      expect(kept).not.toContain(run.token);
    }
    expect(JSON.stringify(site.log)).not.toContain(api_key);
    expect(JSON.stringify(site.log)).not.toContain(bare.login.password);
  });
});

test("answers a report with 503 while the control plane is away, and accepts the report later", async () => {
  const bare = await netbooted();
  const run = await shipped(bare, await listening(bare));
  site.link.away = true;
  try {
    expect((await setup(bare, run, "report", "complete\tcomplete\t100\n")).status).toBe(503);
  } finally {
    site.link.away = false;
  }
  expect((await setup(bare, run, "report", "complete\tcomplete\t100\n")).status).toBe(200);
  expect(await stateOf(bare)).toBe("approved");
});
