// Tests `instance list`: its selectors, columns and notes.
import { describe, expect, test } from "vitest";
import {
  ANSWERS,
  IN_PROJECT,
  NICS_OF_PROJECT,
  run,
  SCOPED,
  server,
  STATE,
  TABLE,
  WALL_MS,
} from "./instance-fixture.ts";
import { IMAGE_ID, INSTANCE, PRIMARY_NIC, TENANT } from "./records.ts";
import { KEY_ENV, requestsOf, serving, tenantctl, TOKEN_ENV } from "./run.ts";

describe("list", () => {
  test("sends the selectors and prints the columns", async () => {
    const ran = await run("list");
    expect([ran.err(), ran.code]).toEqual(["", 0]);
    expect(requestsOf(ran)).toEqual([`GET /v1/instances?${IN_PROJECT}`, NICS_OF_PROJECT]);
    expect(ran.out()).toBe(TABLE);
    expect((await run("list", "--no-headers")).out()).toBe(TABLE.slice(TABLE.indexOf("\n") + 1));
    expect(JSON.parse((await run("list", "-o", "json")).out())).toEqual({ items: [INSTANCE] });
    const none = await tenantctl(["instance", "list"], {
      env: SCOPED,
      server: serving({ "GET /v1/instances": { items: [] } }),
    });
    expect(none.out()).toBe("(no instances)\n");
  });

  test.each(["running", "RUNNING", "Running"])("accepts a state in upper or lower case: %s", async (state) => {
    expect(requestsOf(await run("list", "--state", state))).toEqual([
      `GET /v1/instances?${IN_PROJECT}&state=running`,
      NICS_OF_PROJECT,
    ]);
  });

  test("with --image (a UUID or a name) needs no project", async () => {
    const env = TOKEN_ENV;
    const by_id = await tenantctl(["instance", "list", "--image", IMAGE_ID], { env, server });
    expect(requestsOf(by_id)[0]).toBe(`GET /v1/instances?tenant=${TENANT}&image=${IMAGE_ID}`);
    const by_name = await tenantctl(["instance", "list", "--image", "debian"], { env, server, wall_ms: WALL_MS });
    expect(requestsOf(by_name).at(-2)).toBe(`GET /v1/instances?tenant=${TENANT}&image=${IMAGE_ID}`);
    expect(by_name.out()).toBe(TABLE);
  });

  test("without a selector prints the server's error with a hint", async () => {
    const message = "set `image=`, `cn=`, or `tenant=&project=` to scope the list";
    const ran = await tenantctl(["instance", "list"], {
      env: KEY_ENV,
      server: ({ path }) =>
        path === "/v1/auth/whoami"
          ? { status: 200, body: { tenant_id: null, silo_id: null } }
          : { status: 400, body: { message, error_code: "MissingScope" } },
    });
    expect(ran.code).toBe(1);
    expect(ran.err()).toContain(`error: ${message}; pass --tenant (or TENANTCTL_TENANT) and --project`);
    const projects = [{ name: "shop" }, { name: "lab" }];
    const of_tenant = await tenantctl(["instance", "list"], {
      env: TOKEN_ENV,
      server: ({ path }) =>
        path === `/v1/tenants/${TENANT}/projects`
          ? { status: 200, body: projects }
          : { status: 400, body: { message, error_code: "MissingScope" } },
    });
    expect(of_tenant.err()).toContain(
      `error: ${message}; the tenant has 2 projects (shop, lab); pass --project (or TENANTCTL_PROJECT)`,
    );
  });

  test("shows addresses and hosts with -o wide, and sends one request for all NICs of the project", async () => {
    const second = { ...INSTANCE, id: "99999999-0000-4000-8000-000000000098", name: "web-2", host_live: false };
    const third = {
      ...INSTANCE,
      id: "99999999-0000-4000-8000-000000000097",
      name: "web-3",
      host_cn_uuid: null,
      host_live: null,
    };
    const nic = (more: object) => ({ ...PRIMARY_NIC, ...more });
    const ran = await tenantctl(["instance", "list", "-o", "wide"], {
      env: SCOPED,
      wall_ms: WALL_MS,
      server: serving({
        ...ANSWERS,
        "GET /v1/instances": { items: [INSTANCE, second, third] },
        "GET /v1/nics": {
          items: [
            nic({ id: "1", name: "back", primary_ipv4: "10.0.2.9" }),
            nic({ id: "2", primary_ipv6: "fd00::2" }),
            nic({ id: "3", instance_id: second.id, primary_ipv4: "10.0.1.3" }),
          ],
        },
      }),
    });
    expect(ran.err()).toBe("");
    expect(requestsOf(ran)).toEqual([
      `GET /v1/instances?${IN_PROJECT}`,
      `GET /v1/nics?${IN_PROJECT}`,
    ]);
    const rows = ran.out().trimEnd().split("\n").map((line) => line.split(/ {2,}/));
    const host = INSTANCE.host_cn_uuid;
    expect(rows).toEqual([
      [
        "NAME",
        "ID",
        "STATE",
        "ADDRESSES",
        "CPU",
        "MEMORY",
        "AGE",
        "IMAGE",
        "CREATED_AT",
        "HOST",
        "HOST_PROBLEM",
        "LABELS",
      ],
      [
        "web-1",
        INSTANCE.id,
        STATE,
        "10.0.1.2,fd00::2,10.0.2.9",
        "2",
        "4GiB",
        "3h",
        IMAGE_ID,
        INSTANCE.created_at,
        host,
        "-",
        "-",
      ],
      [
        "web-2",
        second.id,
        STATE,
        "10.0.1.3",
        "2",
        "4GiB",
        "3h",
        IMAGE_ID,
        INSTANCE.created_at,
        host,
        "its node sends no heartbeat",
        "-",
      ],
      ["web-3", third.id, STATE, "-", "2", "4GiB", "3h", IMAGE_ID, INSTANCE.created_at, "-", "-", "-"],
    ]);
  });

  test("prints a note on standard error if a node sends no heartbeat, but not with -o json", async () => {
    const answers = {
      "GET /v1/instances": { items: [{ ...INSTANCE, host_live: false }, INSTANCE] },
      "GET /v1/nics": { items: [] },
    };
    const at = (...argv: string[]) =>
      tenantctl(["instance", "list", ...argv], { env: SCOPED, server: serving(answers) });
    expect((await at()).err()).toContain("The state of 1 instance may be out of date");
    expect((await at("-o", "json")).err()).toBe("");
  });

  test("rejects an unknown state before any request", async () => {
    const ran = await run("list", "--state", "asleep");
    expect([ran.code, ran.asked]).toEqual([2, []]);
    expect(ran.err()).toContain("--state must be one of pending, provisioning, running, stopping, stopped, failed");
  });
});
