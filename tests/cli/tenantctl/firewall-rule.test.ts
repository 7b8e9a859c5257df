// Tests `tenantctl firewall-rule`: conditions, `check`, `set` and `--wait`.
import { describe, expect, test } from "vitest";
import { FirewallRuleSetBody } from "../../../src/contract/firewall.ts";
import { PREFER_WAIT_S_MAX } from "../../../src/contract/limits.ts";
import type { Server } from "../fake-environment.ts";
import { FIREWALL_RULE, VPC } from "./records.ts";
import { requestsOf, serving, tenantctl, TOKEN_ENV } from "./run.ts";

describe("firewall-rule", () => {
  const by_id = `/v1/firewall-rules/${FIREWALL_RULE.id}`;
  const set_path = `/v1/vpcs/${VPC.id}/firewall-rules`;
  const run = (argv: readonly string[], server: Server, typed = "") =>
    tenantctl(["firewall-rule", ...argv], { env: TOKEN_ENV, server, typed });

  test("`update` sends the given conditions, and null for the value any", async () => {
    const ran = await run(
      ["update", FIREWALL_RULE.id, "--protocol", "icmp", "--destination-ports", "any", "--source-cidr", "10.0.0.0/8"],
      serving({ [`PATCH ${by_id}`]: FIREWALL_RULE }),
    );
    expect(ran.code).toBe(0);
    expect(ran.asked[0]!.body).toEqual({ protocol: "icmp4", destination_ports: null, source_cidr: "10.0.0.0/8" });
  });

  test("`check` prints the decision at each end of the connection, and fails for a denied packet", async () => {
    const inbound = { is_allowed: false, rule: FIREWALL_RULE };
    const ran = await run(
      ["check", "--vpc", VPC.id, "--from", "198.51.100.7", "--to", "10.0.1.5", "--port", "443"],
      serving({ [`GET /v1/vpcs/${VPC.id}/firewall-check`]: { is_allowed: false, outbound: null, inbound } }),
    );
    expect(requestsOf(ran)).toEqual([
      `GET /v1/vpcs/${VPC.id}/firewall-check?source=198.51.100.7&destination=10.0.1.5&protocol=tcp&destination_port=443`,
    ]);
    expect([ran.code, ran.out()]).toEqual([
      1,
      "outbound: not checked: the sender is outside the VPC\ninbound: denied by the rule http\n",
    ]);
  });

  test("`set replace` accepts the output of `set show` as its file, and sends the version in this file as If-Match", async () => {
    const headers = { etag: '"0123456789abcdef0123456789abcdef"' };
    const shown = await run(
      ["set", "show", "--vpc", VPC.id, "-o", "json"],
      () => ({ status: 200, headers, body: { items: [FIREWALL_RULE] } }),
    );
    const server = serving({ [`PUT ${set_path}`]: { items: [] } });
    const ran = await run(["set", "replace", "--vpc", VPC.id, "--file", "-"], server, shown.out());
    expect([ran.err(), ran.code, ran.out()]).toEqual(["", 0, "(no firewall rules)\n"]);
    const { body, headers: sent } = ran.asked[0]!;
    expect(sent["if-match"]).toBe(headers.etag);
    const { name, priority, destination_ports } = FIREWALL_RULE;
    expect(body).toMatchObject({ items: [{ name, priority, destination_ports }] });
    expect(body).not.toHaveProperty("version");
    expect(FirewallRuleSetBody.safeParse(body).error).toBeUndefined();
  });

  const RULE = ["--vpc", VPC.id, "--name", "http", "--action", "allow", "--direction", "in", "--priority", "1"];

  test.each([
    [["create", ...RULE], FIREWALL_RULE],
    [["update", FIREWALL_RULE.id, "--priority", "7"], FIREWALL_RULE],
    [["delete", FIREWALL_RULE.id], undefined],
  ])("%j with --wait succeeds only if all nodes have applied the change", async (argv, body) => {
    const answer = { status: body === undefined ? 204 : 200, body };
    const late = await run([...argv, "--wait"], () => answer);
    expect([late.code, late.asked[0]!.headers["prefer"]]).toEqual([1, `wait=${PREFER_WAIT_S_MAX}`]);
    expect(late.err()).toContain("the change is stored, but not all nodes of the VPC have applied it");
    const headers = { "preference-applied": `wait=${PREFER_WAIT_S_MAX}` };
    expect((await run([...argv, "--wait"], () => ({ ...answer, headers }))).code).toBe(0);
    expect((await run(argv, () => answer)).asked[0]!.headers).not.toHaveProperty("prefer");
  });
});
