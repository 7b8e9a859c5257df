// Every word that may follow `tenantctl`, in the order of the help, and where its verbs are.
import type { AnyCommand } from "../framework.ts";

export type Noun = { readonly name: string; readonly summary: string; load(summary: string): Promise<AnyCommand> };

/** The front page reads this list, and the parser must not be loaded with it. */
async function group(name: string, summary: string, members: readonly AnyCommand[]): Promise<AnyCommand> {
  return (await import("../framework.ts")).group(name, summary, members);
}

export const NOUNS: readonly Noun[] = [
  {
    name: "project",
    summary: "Projects of the tenant",
    load: async (summary) => group("project", summary, (await import("./project/verbs.ts")).projectVerbs()),
  },
  {
    name: "quota",
    summary: "What a project may take",
    load: async (summary) => group("quota", summary, [(await import("./quota/show.ts")).show()]),
  },
  {
    name: "instance",
    summary: "Virtual machines of a project",
    load: async (summary) => group("instance", summary, (await import("./instance/verbs.ts")).instanceVerbs()),
  },
  {
    name: "disk",
    summary: "Disks of instances",
    load: async (summary) => group("disk", summary, (await import("./disk/verbs.ts")).diskVerbs()),
  },
  {
    name: "nic",
    summary: "Network interfaces of instances, with their addresses",
    load: async (summary) => group("nic", summary, (await import("./nic/verbs.ts")).nicVerbs()),
  },
  {
    name: "vpc",
    summary: "Networks of a project",
    load: async (summary) => group("vpc", summary, (await import("./vpc/verbs.ts")).vpcVerbs()),
  },
  {
    name: "subnet",
    summary: "Parts of a VPC that NICs are in",
    load: async (summary) => group("subnet", summary, (await import("./subnet/verbs.ts")).subnetVerbs()),
  },
  {
    name: "nat-gateway",
    summary: "Ways out of a VPC, each with a public address",
    load: async (summary) => group("nat-gateway", summary, (await import("./nat-gateway/verbs.ts")).natGatewayVerbs()),
  },
  {
    name: "floating-ip",
    summary: "Public addresses that can be bound to a NIC",
    load: async (summary) => group("floating-ip", summary, (await import("./floating-ip/verbs.ts")).floatingIpVerbs()),
  },
  {
    name: "route-table",
    summary: "Tables of routes, one per subnet",
    load: async (summary) => group("route-table", summary, (await import("./route-table/verbs.ts")).routeTableVerbs()),
  },
  {
    name: "route",
    summary: "Routes of a route table",
    load: async (summary) => group("route", summary, (await import("./route/verbs.ts")).routeVerbs()),
  },
  {
    name: "firewall-rule",
    summary: "Which packets the NICs of a VPC take and send",
    load: async (summary) =>
      group("firewall-rule", summary, (await import("./firewall-rule/verbs.ts")).firewallRuleVerbs()),
  },
  {
    name: "ssh-key",
    summary: "Your SSH keys, which instances let in",
    load: async (summary) => group("ssh-key", summary, (await import("./ssh-key/verbs.ts")).sshKeyVerbs()),
  },
  {
    name: "image",
    summary: "Images for instances, and of an image index",
    load: async (summary) => group("image", summary, (await import("./image.ts")).tenantImageVerbs()),
  },
  {
    name: "operation",
    summary: "What was begun and not waited for",
    load: async (summary) => group("operation", summary, (await import("./operation/verbs.ts")).operationVerbs()),
  },
  {
    name: "login",
    summary: "Save an endpoint and an API key, or log in as a user",
    load: async (summary) => (await import("./session/login.ts")).login(summary),
  },
  {
    name: "logout",
    summary: "Erase the saved API key or end the session",
    load: async (summary) => (await import("./session/logout.ts")).logout(summary),
  },
  {
    name: "whoami",
    summary: "Print the claims of the credential",
    load: async (summary) => (await import("./session/whoami.ts")).whoami(summary),
  },
  {
    name: "env",
    summary: "Print shell exports of the endpoint and the credential",
    load: async (summary) => (await import("./session/env.ts")).env(summary),
  },
  {
    name: "completion",
    summary: "Print a shell completion script",
    load: async (summary) => (await import("./completion/completion.ts")).completion(summary),
  },
];
