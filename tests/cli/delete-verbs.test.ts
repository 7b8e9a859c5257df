// Checks the rule of confirmations (docs/architecture.md, "Confirmations") for every verb of opsctl and tenantctl that
// takes something away.
import { describe, expect, test } from "vitest";
import { type AnyCommand, describe as treeOf } from "../../cli/framework.ts";
import { buildProgram as buildOpsctl } from "../../cli/opsctl/program.ts";
import { buildProgram as buildTenantctl } from "../../cli/tenantctl/program.ts";
import type { FakeAnswer, FakeOptions, Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";
import { MAC } from "./records.ts";
import { tenantctl } from "./tenantctl/run.ts";

/**
 * - `never`: the verb does not ask, and accepts --yes.
 * - `terminal`: the verb asks on a terminal; a script needs no option.
 * - `always`: the verb asks on a terminal; a script needs --yes.
 */
type Rule = "never" | "terminal" | "always";

const TAKES_AWAY =
  /^(?:delete|remove|revoke|unset|clear|end|detach|decommission|factory-reset|rebuild|logout|destroy|purge|erase|wipe)$/;
const ID = "3f2a9c1e-0000-4000-8000-00000000c0de";
const NAME = "thing";

const RULES: Readonly<Record<string, Rule>> = {
  "opsctl cn factory-reset": "always",
  "opsctl cn remove": "always",
  "opsctl cn boot decommission": "always",
  "opsctl instance delete": "always",
  "opsctl image delete": "terminal",
  "opsctl cn traits clear": "never",
  "opsctl cn reservoir clear": "never",
  "opsctl silo delete": "never",
  "opsctl tenant delete": "never",
  "opsctl tenant idp delete": "never",
  "opsctl project delete": "never",
  "opsctl quota unset": "never",
  "opsctl user revoke": "never",
  "opsctl user delete": "never",
  "opsctl nic-tag delete": "never",
  "opsctl external-subnet delete": "never",
  "opsctl network-pool delete": "never",
  "opsctl config unset": "never",
  "opsctl api-key delete": "never",
  "opsctl session end": "never",
  "opsctl profile delete": "never",
  "opsctl profile alias delete": "never",
  "opsctl logout": "never",
  "tenantctl instance rebuild": "always",
  "tenantctl instance delete": "terminal",
  "tenantctl disk delete": "terminal",
  "tenantctl snapshot delete": "terminal",
  "tenantctl image delete": "terminal",
  "tenantctl disk detach": "never",
  "tenantctl project delete": "never",
  "tenantctl nic delete": "never",
  "tenantctl placement-group delete": "never",
  "tenantctl vpc delete": "never",
  "tenantctl subnet delete": "never",
  "tenantctl nat-gateway delete": "never",
  "tenantctl port-forward delete": "never",
  "tenantctl floating-ip detach": "never",
  "tenantctl floating-ip delete": "never",
  "tenantctl route-table delete": "never",
  "tenantctl route delete": "never",
  "tenantctl firewall-rule delete": "never",
  "tenantctl ssh-key delete": "never",
  "tenantctl api-key delete": "never",
  "tenantctl webhook delete": "never",
  "tenantctl session end": "never",
  "tenantctl profile delete": "never",
  "tenantctl logout": "never",
};

/** The second argument of each verb that needs two arguments. */
const SECOND_WORD: Readonly<Record<string, string>> = { "opsctl user revoke": "silo-admin" };

/** The first argument of each verb whose argument is not a UUID. */
const WORD: Readonly<Record<string, string>> = {
  "opsctl cn boot decommission": MAC,
  "opsctl config unset": "a.b",
  "opsctl quota unset": "thing/thing/thing",
};
/** Verbs that send no change in these tests: profiles are local, and `logout` has no session to end. */
const LOCAL = /^(?:opsctl|tenantctl) (?:profile|logout)/;

function verbsOf(member: AnyCommand, path: string): (readonly [string, AnyCommand])[] {
  return member.commands.flatMap((child) => {
    const name = `${path} ${child.name()}`;
    return child.commands.length > 0 ? verbsOf(child, name) : [[name, child] as const];
  });
}

const TREES = [["opsctl", await buildOpsctl("all")], ["tenantctl", await buildTenantctl("all")]] as const;
const EVERY_VERB = new Map(TREES.flatMap(([name, root]) => verbsOf(root, name)));

/** A record that has the fields of every kind. */
const RECORD = {
  id: ID,
  key_id: ID,
  server_uuid: ID,
  tenant_id: ID,
  project_id: ID,
  silo_id: ID,
  name: NAME,
  key: "a.b",
  value: 1,
  username: NAME,
  hostname: NAME,
  mac: MAC,
  state: "approved",
  lifecycle: { state: "stopped" },
  labels: {},
  traits: {},
  capabilities: [],
  kind: "web",
  issuer_url: "https://issuer.example",
  quota: {},
  networks: [],
};

/**
 * Answers each read with the record, or with a list that contains only the record. Answers each change with the record,
 * except a DELETE, which gets 204. A DELETE of a setting or a capability gets the record, too.
 */
const answering: Server = ({ method, path }): FakeAnswer => {
  if (method === "DELETE" && !/config|capabilities/.test(path)) return { status: 204 };
  if (method !== "GET" || path.includes(ID.slice(-4)) && path.endsWith(ID)) return { body: RECORD };
  const is_array = /sessions|api-keys|config|ssh-keys|nic-tags|\/silos$|\/tenants$|\/projects$/.test(path);
  return {
    body: is_array ? [RECORD] : /idp|quota|reservoir|traits/.test(path) ? RECORD : { ...RECORD, items: [RECORD] },
  };
};

const CHANGES = new Set(["POST", "PUT", "PATCH", "DELETE"]);

async function run(verb: string, flags: readonly string[], options: FakeOptions) {
  const [program, ...words] = verb.split(" ");
  const takes_argument = EVERY_VERB.get(verb)!.registeredArguments.length > 0;
  const more = SECOND_WORD[verb] === undefined ? [] : [SECOND_WORD[verb]];
  const argv = [...words, ...takes_argument ? [WORD[verb] ?? ID] : [], ...more, ...flags];
  const ran = await (program === "opsctl" ? opsctl : tenantctl)(argv, { server: answering, ...options });
  const changed = ran.asked.some(({ method }) => CHANGES.has(method));
  return { code: ran.code, err: ran.err(), changed, asked: ran.err().includes("to continue: ") };
}

const NOT_A_TERMINAL = { isTTY: false };
const WRONG_ANSWER = { isTTY: true, typed: ["no"] };

describe("verbs that take something away", () => {
  test("are all in the table", () => {
    const found = [...EVERY_VERB.keys()].filter((path) => TAKES_AWAY.test(path.split(" ").at(-1)!));
    expect(found.toSorted()).toEqual(Object.keys(RULES).toSorted());
  });

  test.each(Object.entries(RULES))("%s: help shows --yes if the verb asks (%s)", (verb, rule) => {
    const member = EVERY_VERB.get(verb)!;
    const yes = member.options.find(({ long }) => long === "--yes");
    expect(yes?.flags).toBe("-y, --yes");
    const shown = treeOf(member).options.some(({ flags }) => flags.includes("--yes"));
    expect(shown).toBe(rule !== "never");
  });

  const asking = Object.entries(RULES).filter(([, rule]) => rule !== "never");
  test.each(asking)("on a terminal, %s asks for confirmation, and a wrong answer changes nothing", async (verb) => {
    const ran = await run(verb, [], WRONG_ANSWER);
    expect(ran).toMatchObject({ asked: true, changed: false, code: 1 });
    expect(ran.err).toContain("error: not confirmed; nothing was changed");
  });

  test.each(asking)("on a terminal, %s changes the record after the user typed its name", async (verb) => {
    const name = verb.endsWith("decommission") ? MAC : NAME;
    expect(await run(verb, [], { isTTY: true, typed: [name] })).toMatchObject({ asked: true, changed: true });
  });

  test.each(asking)("%s needs --yes in a script only if its rule is `always` (it is `%s`)", async (verb, rule) => {
    const ran = await run(verb, [], NOT_A_TERMINAL);
    expect(ran).toMatchObject({ asked: false, changed: rule === "terminal" });
    if (rule === "always") {
      expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("pass --yes to confirm") });
    }
  });

  const never = Object.entries(RULES).filter(([verb, rule]) => rule === "never" && !LOCAL.test(verb));
  test.each(never)("%s does not ask", async (verb) => {
    expect(await run(verb, [], WRONG_ANSWER)).toMatchObject({ asked: false, changed: true, code: 0 });
  });

  const remote = Object.keys(RULES).filter((verb) => !LOCAL.test(verb));
  test.each(remote)("%s does not ask with --yes and with -y", async (verb) => {
    for (const flag of ["--yes", "-y"]) {
      expect(await run(verb, [flag], WRONG_ANSWER), flag).toMatchObject({
        asked: false,
        changed: true,
        code: 0,
      });
      expect(await run(verb, [flag], NOT_A_TERMINAL), flag).toMatchObject({
        asked: false,
        changed: true,
        code: 0,
      });
    }
  });
});
