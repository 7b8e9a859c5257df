// If a start fails because of the machine or a setting, the last line of the server's log says what to do.
import { createServer } from "node:net";
import { once } from "node:events";
import { expect, test } from "vitest";
import { freshDatabase } from "../support/database.ts";
import { startServer } from "../support/server-process.ts";
import { startFailure } from "../../src/start-failure.ts";

test("a start on a port that another program uses names the port and the variables", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  const database = await freshDatabase();
  try {
    await expect(startServer({ env: { DATABASE_URL: database.url, PORT: String(port) } })).rejects.toThrow(
      `berth: 127.0.0.1:${port} is in use by another program; set PORT or HOST`,
    );
  } finally {
    other.close();
    await database.drop();
  }
});

test("a start without its PostgreSQL names the address and the variable", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as { port: number };
  closed.close();
  for (const host of ["127.0.0.1", "localhost"]) {
    await expect(startServer({ env: { DATABASE_URL: `postgres://berth:secret@${host}:${port}/berth` } })).rejects
      .toThrow(new RegExp(`berth: cannot reach PostgreSQL at \\S+:${port}: connection refused; check DATABASE_URL`));
  }
  // After a failover, BERTH_OWNER_DATABASE_URL may still name the lost primary.
  const database = await freshDatabase();
  try {
    for (const host of ["127.0.0.1", "localhost"]) {
      const env = { DATABASE_URL: database.url, BERTH_OWNER_DATABASE_URL: `postgres://berth@${host}:${port}/berth` };
      await expect(startServer({ env })).rejects
        .toThrow(/berth: cannot reach PostgreSQL at \S+: connection refused; check BERTH_OWNER_DATABASE_URL,/);
    }
  } finally {
    await database.drop();
  }
});

test("a start with a PostgreSQL that accepts the connection and does not answer names the variable", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as { port: number };
  try {
    const env = { DATABASE_URL: `postgres://berth:secret@127.0.0.1:${port}/berth` };
    await expect(startServer({ env })).rejects.toThrow(
      "berth: PostgreSQL does not answer; check DATABASE_URL, the network",
    );
  } finally {
    silent.close();
  }
});

test("a start with a secret that differs from the database's secret names the variable, and logs neither secret", async () => {
  const database = await freshDatabase();
  const start = (BERTH_SECRET_KEY: string) =>
    startServer({ env: { DATABASE_URL: database.url, BERTH_SECRET_KEY }, as_task: true });
  const secrets = { used: "5e".repeat(32), other: "6f".repeat(32) };
  try {
    await (await start(secrets.used)).stop();
    const log = await start(secrets.other).then((server) => server.kill(), (error: Error) => error.message);
    expect(log).toContain("berth: this database is used with another secret than BERTH_SECRET_KEY");
    for (const secret of Object.values(secrets)) expect(log).not.toContain(secret);
    await (await start(secrets.used)).stop();
  } finally {
    await database.drop();
  }
});

test("an unknown host and a forbidden port get their own message, and other errors keep their text", () => {
  const unknown = Object.assign(new Error("getaddrinfo ENOTFOUND db1"), {
    code: "ENOTFOUND",
    syscall: "getaddrinfo",
    hostname: "db1",
  });
  expect(startFailure(unknown)).toBe("the host name db1 of PostgreSQL is not known; check DATABASE_URL");
  const forbidden = Object.assign(new Error("listen EACCES"), {
    code: "EACCES",
    syscall: "listen",
    address: "::",
    port: 80,
  });
  expect(startFailure(forbidden)).toBe("this user may not listen on [::]:80; set a PORT above 1023");
  expect(startFailure(new Error("PORT must be a whole number"))).toBe("PORT must be a whole number");
});
