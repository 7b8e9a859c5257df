// A database URL may name several servers (src/db/database-hosts.ts).
import { expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import { choosesServer, databaseUrls } from "../../src/db/database-hosts.ts";
import { tlsFiles, tlsWarning } from "../../src/db/tls.ts";
import { serverPermissions } from "../../src/permissions.ts";

test.each([
  "postgres://berth@127.0.0.1:5432/berth",
  "postgres://berth:a%2Cb@db/berth?sslmode=verify-full",
  "postgres:///berth?host=/run/postgresql",
  "/run/postgresql berth",
  "postgres://db:5432/me@site",
  "postgres:///berth?user=me@site&host=/run",
  "postgres://berth:a@db/berth@site?options=x@y#z@",
])("a URL with one server is not changed: %s", (url) => {
  expect(databaseUrls(url)).toEqual([url]);
  expect(choosesServer(url)).toBe(false);
});

test.each([
  ["a port for each server", "postgres://u:p,w@db1:1,db2:2/berth", [
    "postgres://u:p,w@db1:1/berth",
    "postgres://u:p,w@db2:2/berth",
  ]],
  ["IPv6 addresses", "postgres://u@[::1]:1,[::2]/berth?sslmode=verify-full", [
    "postgres://u@[::1]:1/berth?sslmode=verify-full",
    "postgres://u@[::2]/berth?sslmode=verify-full",
  ]],
  ["one port for all servers", "postgres://u@db1,db2/berth?port=6432&target_session_attrs=primary", [
    "postgres://u@db1/berth?port=6432",
    "postgres://u@db2/berth?port=6432",
  ]],
  ["parameters", "postgres://u@/berth?host=db1,db2&port=1,2", [
    "postgres://u@/berth?host=db1&port=1",
    "postgres://u@/berth?host=db2&port=2",
  ]],
  ["one server that must accept writes", "postgres://u@db1/berth?target_session_attrs=read-write", [
    "postgres://u@db1/berth",
  ]],
])(
  "a URL with several servers, or with target_session_attrs, is split into one URL for each server: %s",
  (_, url, each) => {
    expect(databaseUrls(url)).toEqual(each);
    expect(choosesServer(url)).toBe(true);
  },
);

const UNENCODED = "the password contains /, ? or #; write %2F, %3F or %23 instead, or set PGPASSWORD";

test.each([
  ["postgres://u:secret@db1,db2/berth?target_session_attrs=any", "target_session_attrs must be read-write or primary"],
  ["postgres://u:secret@db1,db2/berth?target_session_attrs=standby", "target_session_attrs must be read-write or"],
  ["postgres://u:secret@db1,/berth", "the list of servers has an empty name"],
  ["postgres://u:secret@db1,db2,db3/berth?port=1,2", "the list of servers has 3 names and 2 ports"],
  ["postgres://u:secret/sign@db1:5432/berth", UNENCODED],
  ["postgres://u:secret?sign@db1:5432/berth", UNENCODED],
  ["postgres://u:secret#sign@db1:5432/berth", UNENCODED],
])("the configuration refuses %s, and the error names the variable but not the password", (url, rule) => {
  for (const name of ["DATABASE_URL", "BERTH_OWNER_DATABASE_URL"]) {
    const read = () => readConfig({ [name]: url });
    expect(read).toThrow(`${name}: ${rule}`);
    expect(read).not.toThrow("secret");
  }
});

const TWO = "postgres://u@127.0.0.1:1,db2.example:2/berth?sslrootcert=/etc/ca.pem&sslmode=verify-full";

test("the server process may connect to every server of the URL, and may read the certificate file that the URL names", () => {
  const flags = serverPermissions({ DATABASE_URL: TWO, BERTH_OWNER_DATABASE_URL: "postgres://o@db3:3,db4:4/berth" });
  const net = flags.find((flag) => flag.startsWith("--allow-net="));
  for (const place of ["127.0.0.1:1", "db2.example:2", "db3:3", "db4:4"]) expect(net).toContain(place);
  expect(tlsFiles(TWO)).toEqual(["/etc/ca.pem"]);
});

test("the server warns at its start about each database server to which connections are not encrypted", () => {
  expect(tlsWarning(TWO)).toBeNull();
  expect(tlsWarning("postgres://u@127.0.0.1:1,db2.example:2/berth")).toContain("the database at db2.example is not");
});
