// Starts the yardstick for reads: a server that uses only Hono and pg. `GET /v1/system/cns/ID` is one SELECT of the
// node's row, without credential, permissions, validation or metrics. `GET /v1/health` has a constant answer. The
// server prints its port.
import { Hono } from "hono";
import pg from "pg";
import process from "node:process";

/** As many connections as Berth uses for statements: 8 of src/db/pool.ts and 2 of src/db/key-reads.ts. */
const CONNECTIONS_MAX = 10;

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: CONNECTIONS_MAX });
const app = new Hono();
app.get("/v1/health", (context) => context.json({ status: "ok" }));
app.get("/v1/system/cns/:id", async (context) => {
  const { rows } = await pool.query("select * from cn where server_uuid = $1", [context.req.param("id")]);
  return rows.length === 0 ? context.notFound() : context.json(rows[0]);
});
Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(port),
}, app.fetch);
