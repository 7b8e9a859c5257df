// An operator creates a tenant and a key for it. The tenant builds a network with this key, and deletes the network at
// the end.
import { check, executable, idOf, type Run, say } from "../stage.ts";
import { type MachinePlace, tenantMachine } from "./tenant-machine.ts";

export async function tenantNetwork(opsctl: Run, place: MachinePlace): Promise<void> {
  const { endpoint } = place;
  say("The operator creates a tenant with a project, a quota and a key");
  await opsctl("silo", "create", "acme");
  await opsctl("tenant", "create", "web", "--silo", "acme");
  await opsctl("project", "create", "shop", "--tenant", "web");
  await opsctl("quota", "set", "web/shop", "--cpu", "16", "--memory", "64GiB", "--disk", "1TiB", "--instances", "8");
  const made = JSON.parse(
    await opsctl("api-key", "create", "--tenant", "web", "--description", "web team", "--json"),
  );
  check("the key is the tenant's", made.tenant_id !== null && made.scope === "full");

  say("The tenant builds a network: a VPC, two subnets, a NAT gateway with a default route, an address, rules");
  const tenantctl = executable("tenantctl", {
    TENANTCTL_ENDPOINT: endpoint,
    TENANTCTL_ACCESS_TOKEN: made.secret,
    TENANTCTL_TENANT: made.tenant_id,
    TENANTCTL_PROJECT: "shop",
  });
  const on = (...argv: string[]) => tenantctl(...argv, "-o", "table");
  const vpc = idOf(
    await on("vpc", "create", "--name", "main", "--ipv4-block", "10.0.0.0/16", "--ipv6-block", "fd00:be:a7::/48"),
  );
  await on("subnet", "create", "--vpc", "main", "--name", "front", "--ipv4-block", "10.0.1.0/24");
  await on("subnet", "create", "--vpc", "main", "--name", "back", "--ipv4-block", "10.0.2.0/24");
  check("the VPC has two subnets", /front[^]*back|back[^]*front/.test(await on("subnet", "list", "--vpc", "main")));
  const gateway = await on("nat-gateway", "create", "--vpc", "main", "--name", "out");
  check("the NAT gateway has the lowest public address", gateway.includes("203.0.113.2"));
  const tables = await on("route-table", "list", "--vpc", "main");
  check("the main table is there", /main\s.*\byes\b/.test(tables));
  const nat = /\b[0-9a-f-]{36}\b/.exec(gateway)?.[0] ?? "";
  const table = /^main\s+(\S{36})/m.exec(tables)?.[1] ?? "";
  await on(
    ...["route", "create", "--route-table", table, "--name", "default", "--destination", "0.0.0.0/0"],
    ...["--target-nat-gateway", nat],
  );
  const address = await on("floating-ip", "create", "--name", "www");
  check("the floating IP has the next public address", address.includes("203.0.113.3"));
  await on(
    ...["firewall-rule", "create", "--vpc", "main", "--name", "https", "--action", "allow", "--direction", "in"],
    ...["--priority", "100", "--protocol", "tcp", "--destination-ports", "443"],
  );
  check(
    "the rule is listed",
    /https\s.*\binbound\s+allow\s+100\b/.test(await on("firewall-rule", "list", "--vpc", "main")),
  );

  await tenantMachine(opsctl, on, place);

  say("The operations and the audit chain show what happened");
  check(
    "the operation of the gateway is listed",
    /nat-gateway-create\s+succeeded/.test(await opsctl("operation", "list")),
  );
  check("the audit chain is intact", /verified to seq \d+/.test(await opsctl("audit", "verify")));

  say("The tenant deletes the network");
  for (
    const [kind, id, ...more] of [
      ["route", "default", "--route-table", table],
      ["nat-gateway", nat],
      ["firewall-rule", "https", "--vpc", "main"],
      ["floating-ip", idOf(address)],
      ["subnet", "front", "--vpc", "main"],
      ["subnet", "back", "--vpc", "main"],
      ["vpc", vpc],
    ]
  ) {
    check(`the ${kind} is deleted`, / deleted\.$/m.test(await on(kind!, "delete", id!, ...more)));
  }
  await opsctl("project", "delete", "web/shop");
}
