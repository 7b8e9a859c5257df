// Tests TLS to a real PostgreSQL: the client connects only to the server with the right certificate.
// docs/reliability.md S-32.
import { chmod, chown, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openClient } from "../../src/db/pool.ts";
import { strictTls, tlsFiles, tlsWarning } from "../../src/db/tls.ts";
import { openControlPlane } from "../../src/wiring.ts";
import { readConfig } from "../../src/config.ts";
import { type OwnCluster, ownCluster } from "../support/cluster.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { expired, type Identity, newAuthority, selfSigned } from "./certificate.ts";

const authority = newAuthority();
let cluster: OwnCluster;
let folder: TemporaryFolder;
let ca: string;

beforeAll(async () => {
  cluster = await ownCluster({ fsync: "off" });
  folder = await temporaryFolder("database-tls");
  ca = join(folder.path, "ca.pem");
  await writeFile(ca, authority.cert);
});

afterAll(async () => {
  await cluster.remove();
  await folder.remove();
});

/** Makes the server present this certificate to new connections. */
async function present(identity: Identity): Promise<void> {
  const client = await openClient({ url: cluster.url });
  const { rows } = await client.query("select setting as folder from pg_settings where name = 'data_directory'");
  const data = rows[0].folder as string;
  const { uid, gid } = await stat(join(data, "PG_VERSION"));
  for (const [name, text] of [["server.crt", identity.cert], ["server.key", identity.key]] as const) {
    const path = join(data, name);
    await writeFile(path, text);
    await chmod(path, 0o600);
    await chown(path, uid, gid);
  }
  await client.query("alter system set ssl = on");
  await client.query("select pg_reload_conf()");
  await client.end();
  // The server reloads asynchronously: wait until it presents this certificate.
  await expect.poll(async () => {
    const probe = await openClient({ url: at("127.0.0.1", "sslmode=no-verify") }).catch(() => null);
    // The driver's types do not declare its socket. Only the socket gives access to the certificate.
    const shown = (probe as unknown as Shown | null)?.connection.stream.getPeerCertificate?.().raw;
    await probe?.end();
    return shown && Buffer.from(shown).toString("base64");
  }, { timeout: 60_000 }).toBe(identity.cert.replace(/-----[^-]+-----|\s/g, ""));
}

type Shown = { readonly connection: { readonly stream: { getPeerCertificate?(): { raw: Uint8Array } } } };

function at(host: string, query: string): string {
  const url = new URL(cluster.url);
  url.hostname = host;
  return `${url.href}?${query}`;
}

/** Returns whether the server sees the connection as encrypted, or the error. */
async function connected(url: string): Promise<boolean | string> {
  try {
    const client = await openClient({ url });
    const { rows } = await client.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
    await client.end();
    return rows[0].ssl;
  } catch (error) {
    return `refused: ${(error as Error).message}`;
  }
}

const MODES = ["prefer", "require", "verify-ca", "verify-full"] as const;

describe("S-32: the database's certificate", { timeout: 120_000 }, () => {
  test("is accepted in every mode if the authority issued it for this host", async () => {
    await present(authority.issue("localhost"));
    for (const mode of MODES) {
      expect([mode, await connected(at("localhost", `sslmode=${mode}&sslrootcert=${ca}`))]).toEqual([mode, true]);
    }
    expect(await connected(at("localhost", `ssl=true&sslrootcert=${ca}`))).toBe(true);
    await present(authority.issue("127.0.0.1"));
    expect(await connected(at("127.0.0.1", `sslmode=require&sslrootcert=${ca}`))).toBe(true);
  });

  test.each([
    ["names another host", () => authority.issue("elsewhere.example"), /altname|name/i],
    // Some builds report an expired certificate as a chain that cannot be verified.
    ["has expired", () => authority.issue("localhost", expired()), /expired|verify/i],
    ["is self-signed", () => selfSigned("localhost"), /self.?signed|unknown|issuer/i],
    ["is from another authority", () => newAuthority("another authority").issue("localhost"), /issuer|unknown|verify/i],
  ])("is refused in every mode when it %s", async (_, identity, why) => {
    await present(identity());
    for (const mode of MODES) {
      const outcome = await connected(at("localhost", `sslmode=${mode}&sslrootcert=${ca}`));
      expect([mode, outcome]).toEqual([mode, expect.stringMatching(/^refused: /)]);
      expect(outcome).toMatch(why);
    }
  });

  test("is refused without the authority's file, since no public authority issued it", async () => {
    await present(authority.issue("localhost"));
    expect(await connected(at("localhost", "sslmode=require"))).toMatch(/^refused: /);
  });
});

describe("S-32: the connection to the database", { timeout: 120_000 }, () => {
  test("does not fall back to clear text for a server without TLS", async () => {
    const client = await openClient({ url: cluster.url });
    await client.query("alter system set ssl = off");
    await client.query("select pg_reload_conf()");
    await client.end();
    const url = at("localhost", `sslmode=prefer&sslrootcert=${ca}`);
    await expect.poll(() => connected(url), { timeout: 60_000 }).toMatch(/^refused: .*not support SSL/);
  });

  test("of a complete control plane uses TLS", async () => {
    await present(authority.issue("localhost"));
    const databaseUrl = at("localhost", `sslmode=require&sslrootcert=${ca}`);
    const controlPlane = await openControlPlane({
      config: readConfig({ BERTH_SECRET_KEY: "5e".repeat(32) }),
      databaseUrl,
      resident: true,
      show: () => {},
    });
    try {
      expect((await controlPlane.fetch(new Request("http://berth.test/readyz"))).status).toBe(200);
      const client = await openClient({ url: cluster.url });
      const { rows } = await client.query(
        `select bool_and(s.ssl) as all, count(*)::int as n from pg_stat_ssl s join pg_stat_activity a using (pid)
          where a.application_name like 'berth%' and a.pid <> pg_backend_pid()`,
      );
      await client.end();
      expect(rows).toEqual([{ all: true, n: expect.any(Number) }]);
    } finally {
      await controlPlane.close();
    }
  });
});

describe("S-32: weak connections:", () => {
  const HOST = "postgres://berth:canary@db.example/berth";

  test("the warning contains the host and not the password", () => {
    const clear = [HOST, `${HOST}?sslmode=disable`, `${HOST}?ssl=0`, `${HOST}?application_name=x`];
    for (const url of clear) {
      expect(tlsWarning(url)).toMatch(/database at db\.example is not encrypted.*sslmode=verify-full/);
    }
    const blind = [`${HOST}?sslmode=no-verify`, `${HOST}?ssl=no-verify`, `${HOST}?sslmode=require&uselibpqcompat=true`];
    for (const url of blind) {
      expect(tlsWarning(url)).toMatch(/certificate of the database at db\.example is not verified/);
    }
    for (const url of [...clear, ...blind]) expect(tlsWarning(url)).not.toContain("canary");
  });

  test("no warning appears if TLS is verified or the database is on this machine", () => {
    const verified = [...MODES.map((mode) => `sslmode=${mode}`), "ssl=true", "ssl=1"].map((query) =>
      `${HOST}?${query}`
    );
    const near = ["127.0.0.1", "localhost", "[::1]", "%2Frun%2Fpostgresql", ""].map((host) =>
      `postgres://u:p@${host}/d`
    );
    const socket = "postgres://u:p@/d?host=/run/postgresql";
    for (const url of [...verified, ...near, socket]) expect([url, tlsWarning(url)]).toEqual([url, null]);
  });

  test("weak modes are replaced by verify-full, and the rest of the URL is unchanged", () => {
    expect(strictTls(`${HOST}?a=1&sslmode=require&b=2`)).toBe(`${HOST}?a=1&sslmode=verify-full&b=2`);
    expect(strictTls(`${HOST}?sslmode=prefer`)).toBe(`${HOST}?sslmode=verify-full`);
    for (const kept of ["", "?sslmode=disable", "?sslmode=requires", "?uselibpqcompat=true&sslmode=require"]) {
      expect(strictTls(HOST + kept)).toBe(HOST + kept);
    }
    expect(tlsFiles(`${HOST}?sslrootcert=/a/b.pem&sslkey=/c`)).toEqual(["/a/b.pem", "/c"]);
  });
});
