// Runs pgbench, PostgreSQL's own benchmark, as a yardstick on the PostgreSQL server of Berth's bench.
// `--skip-some-updates` (-N) selects pgbench's simple update: one update, one select and one insert in each
// transaction. Like Berth, pgbench connects over loopback TCP.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { openClient } from "../../src/db/pool.ts";
import { databaseUrl } from "../support/database-url.ts";
import { pathOf } from "../support/optional-programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const DATABASE = "bench_yardstick";
/**
 * The scale factor of pgbench. It results in 10 branches and 1,000,000 accounts, so that clients rarely wait for each
 * other's rows.
 */
const SCALE = 10;
const CLIENTS = 8;
const THREADS = 2;

export type Yardstick = {
  /** Runs pgbench for a time. Returns transactions per second. */
  run(seconds: number): Promise<number>;
};

/** The database, the node whose row is changed, and the number of clients that change it. */
export type BusyRow = { readonly url: string; readonly id: string; readonly clients: number };

/** Finds pgbench and fills pgbench's tables in a separate database. Returns null if pgbench is not installed. */
export async function preparePgbench(serverUrl: string): Promise<Yardstick | null> {
  const program = pathOf("pgbench");
  if (program === null) return null;
  const admin = await openClient({ url: serverUrl });
  await admin.query(`create database ${DATABASE}`);
  await admin.end();
  const start = (...argv: string[]) => pgbench(program, databaseUrl(serverUrl, DATABASE), argv);
  await start("--initialize", "--quiet", `--scale=${SCALE}`);
  return {
    async run(seconds) {
      const argv = ["--skip-some-updates", "--no-vacuum", `--client=${CLIENTS}`, `--jobs=${THREADS}`];
      return rateOf(await start(...argv, `--time=${seconds}`));
    },
  };
}

/**
 * Changes the role of one node repeatedly for a time, as a simple server would. Each message is one transaction, which
 * locks and changes the node's row and inserts a row into bench_log. Returns the transactions per second, or null if
 * pgbench is not installed.
 */
export async function runBusyRow({ url, id, clients }: BusyRow, seconds: number): Promise<number | null> {
  const program = pathOf("pgbench");
  if (program === null) return null;
  const admin = await openClient({ url });
  await admin.query(`create table if not exists bench_log (id bigserial primary key, node uuid, reply text)`);
  await admin.end();
  const folder = await temporaryFolder("pgbench");
  try {
    const script = join(folder.path, "busy-row.sql");
    await writeFile(
      script,
      `begin;
select server_uuid, role, sysinfo from cn where server_uuid = '${id}' for update;
update cn set role = case role when 'both' then 'tenant' else 'both' end, version = version + 1 where server_uuid = '${id}';
insert into bench_log (node, reply) select server_uuid, to_jsonb(cn)::text from cn where server_uuid = '${id}';
commit;
`,
    );
    const argv = ["--no-vacuum", `--client=${clients}`, `--jobs=${THREADS}`, `--time=${seconds}`, `--file=${script}`];
    return rateOf(await pgbench(program, url, argv));
  } finally {
    await folder.remove();
  }
}

function rateOf(printed: string): number {
  const tps = Number(/^tps = ([\d.]+)/m.exec(printed)?.[1]);
  if (!(tps > 0)) throw new Error(`pgbench printed no rate:\n${printed}`);
  return tps;
}

async function pgbench(program: string, url: string, argv: readonly string[]): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(url);
  // Passes the password in the environment, because it must not be in an argument list.
  const env = {
    PATH: process.env.PATH,
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
  };
  const { stdout } = await promisify(execFile)(program, [...argv], { env });
  return stdout;
}
