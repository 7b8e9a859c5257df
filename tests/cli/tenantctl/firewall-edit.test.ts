// Tests `firewall-rule edit` with a real control plane. The editor is a shell command.
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../../cli/internal/exit-code.ts";
import { openTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { openTenant, type TestTenant } from "../../tenancy/tenant.ts";
import { serverOf } from "../at-control-plane.ts";
import { ENDPOINT, fakeEnvironment, type Server } from "../fake-environment.ts";
import { needs } from "../../support/optional-programs.ts";
import { tenantctl } from "./run.ts";

let t: TestControlPlane;
let tenant: TestTenant;
beforeAll(async () => {
  t = await openTestControlPlane();
  tenant = await openTenant(t);
  await made("vpc create --name web --ipv4-block 10.0.0.0/16");
  await made(
    "firewall-rule create --vpc web --name ssh --action allow --direction in --priority 9 --protocol tcp --destination-ports 22",
  );
  await made("firewall-rule create --vpc web --name old --action deny --direction in --priority 1");
});
afterAll(() => t.close());

async function run(words: string, editor = "true", server: Server = serverOf(t)) {
  const ran = await tenantctl(words.split(" "), {
    env: {
      TENANTCTL_ENDPOINT: ENDPOINT,
      TENANTCTL_API_KEY: tenant.key,
      TENANTCTL_TENANT: tenant.tenant_id,
      TENANTCTL_PROJECT: tenant.project_id,
      PATH: process.env.PATH!,
      NO_COLOR: "1",
      EDITOR: editor,
    },
    server,
    newId: randomUUID,
  });
  return { code: ran.code, out: ran.out(), err: ran.err() };
}

async function made(words: string) {
  expect(await run(words)).toMatchObject({ code: 0 });
}

const edit = (editor: string) => run("firewall-rule edit --vpc web", editor);
const rules = async () => (await run("firewall-rule list --vpc web -o csv --no-headers --columns name,prio,dest")).out;

test("if the user saves the text unchanged, no rule changes", async () => {
  const before = await rules();
  expect(await edit("true")).toMatchObject({
    code: 0,
    out: "Applied: 0 created, 0 changed, 0 replaced, 0 deleted, 2 unchanged\n",
  });
  expect(await rules()).toBe(before);
});

test("the command replaces, deletes and creates rules so that they match the saved text", async () => {
  const script = join(fakeEnvironment().home_dir, "edit.sh");
  const common = "vpc: web, direction: inbound, action: allow, protocol: tcp";
  await writeFile(
    script,
    `case $(cat "$1") in *old*) ;; *) exit 1 ;; esac
cat > "$1" <<'END'
firewall_rules:
  - { ${common}, name: ssh, priority: 9, destination_ports: { low: 2222, high: 2222 } }
  - { ${common}, name: https, priority: 8 }
END
`,
  );
  const ran = await edit(`sh ${script}`);
  expect(ran.code, ran.err).toBe(0);
  expect(ran.out.split("\n").toSorted()).toEqual([
    "",
    '    destination_ports: {"high":22,"low":22} -> {"high":2222,"low":2222}',
    "+ firewall rule web/https",
    "- firewall rule web/old",
    "Applied: 1 created, 1 changed, 0 replaced, 1 deleted, 0 unchanged",
    expect.stringMatching(/^~ firewall rule web\/ssh/),
  ]);
  expect((await rules()).trim().split(/\s*\n/).sort()).toEqual([
    expect.stringMatching(/^https,8,\w+$/),
    expect.stringMatching(/^ssh,9,\w+ port 2222$/),
  ]);
});

test("if the editor fails, or the text is unreadable or names a rule of another VPC, nothing changes", async () => {
  const before = await rules();
  expect(await edit("false")).toMatchObject({
    code: EXIT.failure,
    err: "error: false ended with exit code 1; nothing was changed\n",
  });
  expect((await edit("sh -c 'echo firewall_rules: [ > $0'")).code).toBe(EXIT.usage);
  const other = "firewall_rules: [{ vpc: db, name: x, priority: 1, direction: inbound, action: deny }]";
  const refused = await edit(`sh -c 'echo "${other}" > $0'`);
  expect(refused.err).toContain("rule db/x is not in the VPC web");
  expect(await rules()).toBe(before);
});

test("if the user removes a condition, the plan names the change and the rule loses the condition", async (context) => {
  needs(context, "sed");
  const create = "firewall-rule create --vpc web --action allow --direction in --priority 7";
  await made(`${create} --name db --protocol tcp --source-cidr 10.0.0.0/8 --destination-ports 5432 --description data`);
  const shown = async () => JSON.parse((await run("firewall-rule show db --vpc web -o json")).out);
  const said = async (editor: string) => (await edit(editor)).out.split("\n").toSorted();

  expect(await said("sed -i /source_cidr/d")).toEqual([
    "",
    "Applied: 0 created, 1 changed, 0 replaced, 0 deleted, 2 unchanged",
    "~ firewall rule web/db",
    "    source_cidr: 10.0.0.0/8 -> unset",
  ].toSorted());
  expect(await shown()).toMatchObject({ source_cidr: null, protocol: "tcp", description: "data" });

  const remove = "-e /description/d -e /protocol/d -e /_ports:/,+2d";
  expect(await said(`sed -i ${remove} -e s/priority:.9/priority:\\ 10/`)).toEqual(expect.arrayContaining([
    "    description: data -> unset",
    "    protocol: tcp -> any",
    '    destination_ports: {"high":5432,"low":5432} -> unset',
    "    priority: 9 -> 10",
  ]));
  expect(await shown()).toMatchObject({ description: "", protocol: "any", destination_ports: null });
});

test("if another user creates a rule while the editor is open, the command fails and changes nothing", async () => {
  const server: Server = async (request, signal) => {
    if (request.method === "PUT") {
      await made("firewall-rule create --vpc web --name theirs --action deny --direction in --priority 2");
    }
    return await serverOf(t)(request, signal);
  };
  const rule = "{ vpc: web, name: mine, priority: 1, direction: inbound, action: deny }";
  const ran = await run("firewall-rule edit --vpc web", `sh -c 'echo "firewall_rules: [${rule}]" > $0'`, server);
  expect(ran).toMatchObject({ code: EXIT.conflict, out: "" });
  expect(ran.err).toContain("the firewall rules were changed since you read them; read them again");
  expect(await rules()).toContain("theirs");
  expect(await rules()).not.toContain("mine");
});
