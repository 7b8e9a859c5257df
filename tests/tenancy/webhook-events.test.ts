// Tests the events of webhooks: an unknown event is refused, and the list has every action of a project's objects.
import { afterAll, beforeAll, expect, test } from "vitest";
import { OTHER_ACTIONS, PROJECT_ACTIONS, WEBHOOK_EVENTS } from "../../src/contract/audit-actions.ts";
import { makeObjects, type Objects } from "../api/objects.ts";
import { okOf, openTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";

let t: TestControlPlane;
let objects: Objects;
beforeAll(async () => {
  t = await openTestControlPlane();
  objects = await makeObjects(t);
}, 30_000);
afterAll(() => t.close());

const create = (events: readonly string[]) =>
  t.call("POST", `/v1/webhooks?tenant=${objects.tenant}&project=${objects.project}`, {
    body: { name: crypto.randomUUID(), url: "https://hooks.example.org/", events },
  });

test.each([
  [["instanc_create"], "body.events[0]: there is no event instanc_create; did you mean instance_create?"],
  [["vpc_create", "insance_*"], "body.events[1]: no event begins with insance_; did you mean instance_*?"],
  [["cn_drain"], /^body\.events\[0\]: there is no event cn_drain; /],
  [
    ["vpc_create", "project_create"],
    "body.events[1]: no webhook can get project_create, because a project has no webhook when it is created or deleted",
  ],
  [["project_delete"], /^body\.events\[0\]: no webhook can get project_delete, /],
  [["qwertz"], "body.events[0]: there is no event qwertz; docs/webhooks.md lists the events"],
])("%j gets 400", async (events, message) => {
  const expected = { status: 400, body: { error_code: "BadRequest", message: expect.stringMatching(message) } };
  if (typeof message === "string") expected.body.message = message;
  expect(await create(events)).toMatchObject(expected);
  expect(await t.call("PATCH", `/v1/webhooks/${objects.webhook}`, { body: { events } })).toMatchObject(expected);
});

test("events, prefixes and a star are accepted", async () => {
  const { id, events } = okOf(await create(["instance_create", "disk_*", "webhook_test", "project_*", "*"]));
  expect(events).toEqual(["instance_create", "disk_*", "webhook_test", "project_*", "*"]);
  okOf(await t.call("DELETE", `/v1/webhooks/${id}`));
});

test("a webhook that has an unknown event is readable, and its other fields can change", async () => {
  const { id } = okOf(await create([]));
  await t.db.query("update webhook set events = array['instanc_create'] where id = $1", [id]);
  expect(okOf(await t.call("GET", `/v1/webhooks/${id}`)).events).toEqual(["instanc_create"]);
  const changed = okOf(await t.call("PATCH", `/v1/webhooks/${id}`, { body: { enabled: false } }));
  expect(changed).toMatchObject({ enabled: false, events: ["instanc_create"] });
});

test("each action is listed once", () => {
  const all = [...PROJECT_ACTIONS, ...OTHER_ACTIONS];
  expect(all.filter((action, at) => all.indexOf(action) !== at)).toEqual([]);
});

test("each event is about an object with a project, or about a project that exists before and after the event", async () => {
  const { rows } = await t.db.query<{ table_name: string }>(
    "select table_name from information_schema.columns where table_schema = 'public' and column_name = 'project_id'",
  );
  // The rows of these objects are in the tables disk and firewall_rule.
  const kinds = [...rows.map(({ table_name }) => table_name), "snapshot", "firewall_rules"];
  expect(kinds).toContain("vpc");
  expect(WEBHOOK_EVENTS.filter((event) => !kinds.some((kind) => event.startsWith(`${kind}_`)))).toEqual([
    "project_update",
  ]);
});

test("an audit entry has an action from the list if and only if it is about an object of a project", async () => {
  const at = `/v1/subnets/${objects.subnet}/route-table`;
  okOf(await t.call("PUT", at, { body: { route_table_id: objects.route_table } }));
  const { main_route_table_id } = okOf(await t.call("GET", `/v1/vpcs/${objects.vpc}`));
  okOf(await t.call("PUT", at, { body: { route_table_id: main_route_table_id } }));
  const vpc = okOf(
    await t.call("POST", `/v1/vpcs?tenant=${objects.tenant}&project=${objects.project}`, {
      body: { name: "short", ipv4_block: "10.9.0.0/16" },
    }),
  );
  expect((await t.call("DELETE", `/v1/vpcs/${vpc.id}`)).status).toBe(204);
  // This request adds all earlier entries to the audit chain, which the background worker would do later.
  okOf(await t.call("GET", "/v1/audit/events"));
  const { rows } = await t.db.query<{ action: string; of_project: boolean; resource: string }>(
    `select distinct e->>'action' as action, e->>'resource' as resource,
            e->'payload' ? 'project_id' or e->>'resource' like 'Project::%' as of_project
       from (select canonical::jsonb as e from audit_event) a where e->>'decision' = 'allow'`,
  );
  const events: readonly string[] = PROJECT_ACTIONS;
  // Images and SSH keys also belong to the site, to silos and to tenants.
  const wrong = rows.filter(({ action, of_project, resource }) =>
    of_project
      ? !events.includes(action)
      : events.includes(action) && !/^(?:Image|SshKey|Quota|Tenant)::/.test(resource)
  );
  expect(wrong.filter(({ action }) => !["webhook_test", "webhook_redeliver"].includes(action))).toEqual([]);
  expect(new Set(rows.filter(({ of_project }) => of_project).map(({ action }) => action)).size).toBeGreaterThan(10);
});
