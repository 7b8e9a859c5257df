// Lists the nouns of `tenantctl` in the order of the help, with the modules of their verbs. A noun is a group of verbs,
// such as `vpc`, or a single command.
import type { AnyCommand } from "../framework.ts";

export type Noun = { readonly name: string; readonly summary: string; load(summary: string): Promise<AnyCommand> };

/** Imports the parser when it is called: the front page reads NOUNS and must start without the parser. */
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
    summary: "Quota and usage of a project",
    load: async (summary) => group("quota", summary, [(await import("./quota/show.ts")).show()]),
  },
  {
    name: "usage",
    summary: "Show the usage of a project by day",
    load: async (summary) => (await import("./usage.ts")).usage(summary),
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
    name: "snapshot",
    summary: "Snapshots: copies of disks at one moment",
    load: async (summary) => group("snapshot", summary, (await import("./snapshot/verbs.ts")).snapshotVerbs()),
  },
  {
    name: "nic",
    summary: "Network interfaces (NICs) of instances, with their addresses",
    load: async (summary) => group("nic", summary, (await import("./nic/verbs.ts")).nicVerbs()),
  },
  {
    name: "placement-group",
    summary: "Placement groups: instances that placement keeps apart or together",
    load: async (summary) =>
      group("placement-group", summary, (await import("./placement-group/verbs.ts")).placementGroupVerbs()),
  },
  {
    name: "vpc",
    summary: "Virtual networks (VPCs) of a project",
    load: async (summary) => group("vpc", summary, (await import("./vpc/verbs.ts")).vpcVerbs()),
  },
  {
    name: "subnet",
    summary: "Subnets of a VPC, which contain NICs",
    load: async (summary) => group("subnet", summary, (await import("./subnet/verbs.ts")).subnetVerbs()),
  },
  {
    name: "nat-gateway",
    summary: "NAT gateways: routes out of a VPC by a public address",
    load: async (summary) => group("nat-gateway", summary, (await import("./nat-gateway/verbs.ts")).natGatewayVerbs()),
  },
  {
    name: "port-forward",
    summary: "Port forwards from NAT gateways to NICs",
    load: async (summary) =>
      group("port-forward", summary, (await import("./port-forward/verbs.ts")).portForwardVerbs()),
  },
  {
    name: "floating-ip",
    summary: "Floating IPs: public addresses that attach to NICs",
    load: async (summary) => group("floating-ip", summary, (await import("./floating-ip/verbs.ts")).floatingIpVerbs()),
  },
  {
    name: "route-table",
    summary: "Route tables; each subnet uses one",
    load: async (summary) => group("route-table", summary, (await import("./route-table/verbs.ts")).routeTableVerbs()),
  },
  {
    name: "route",
    summary: "Routes of a route table",
    load: async (summary) => group("route", summary, (await import("./route/verbs.ts")).routeVerbs()),
  },
  {
    name: "firewall-rule",
    summary: "Firewall rules for the NICs of a VPC",
    load: async (summary) =>
      group("firewall-rule", summary, (await import("./firewall-rule/verbs.ts")).firewallRuleVerbs()),
  },
  {
    name: "ssh-key",
    summary: "Your SSH keys for access to instances",
    load: async (summary) => group("ssh-key", summary, (await import("./ssh-key/verbs.ts")).sshKeyVerbs()),
  },
  {
    name: "api-key",
    summary: "API keys of the tenant",
    load: async (summary) => group("api-key", summary, (await import("./api-key/verbs.ts")).apiKeyVerbs()),
  },
  {
    name: "image",
    summary: "Images of instances, and images of an image index",
    load: async (summary) => group("image", summary, (await import("./image.ts")).tenantImageVerbs()),
  },
  {
    name: "operation",
    summary: "Operations in progress or finished",
    load: async (summary) => group("operation", summary, (await import("./operation/verbs.ts")).operationVerbs()),
  },
  {
    name: "webhook",
    summary: "Webhooks: events of a project that are sent to a URL",
    load: async (summary) => group("webhook", summary, (await import("./webhook/verbs.ts")).webhookVerbs()),
  },
  {
    name: "audit",
    summary: "Audit events of the tenant",
    load: async (summary) => group("audit", summary, [(await import("./audit/list.ts")).list()]),
  },
  {
    name: "ssh",
    summary: "Log in to an instance with ssh, or run a command on it",
    load: async (summary) => (await import("./instance/ssh.ts")).ssh(summary),
  },
  {
    name: "console",
    summary: "Open the serial console of an instance",
    load: async (summary) => (await import("./instance/console.ts")).openConsoleVerb(summary),
  },
  {
    name: "logs",
    summary: "Print the log of an instance's serial console",
    load: async (summary) => (await import("./instance/log.ts")).log("logs", summary),
  },
  {
    name: "apply",
    summary: "Create and change the records of a project as a manifest describes them",
    load: async (summary) => (await import("./manifest/apply.ts")).applyProject(summary),
  },
  {
    name: "diff",
    summary: "Show what apply would change; exit code 1 if it would change something",
    load: async (summary) => (await import("./manifest/apply.ts")).diffProject(summary),
  },
  {
    name: "export",
    summary: "Print the records of a project as a manifest",
    load: async (summary) => (await import("./manifest/apply.ts")).exportProject(summary),
  },
  {
    name: "search",
    summary: "Find instances, VPCs and other objects of the tenant by name, address or id",
    load: async (summary) => {
      const [{ search }, { withIo }] = await Promise.all([import("../internal/search.ts"), import("./open-io.ts")]);
      return search(summary, withIo);
    },
  },
  {
    name: "api",
    summary: "Send one request to any route, with the saved endpoint and credential",
    load: async (summary) => {
      const [{ rawCall }, { withIo }] = await Promise.all([import("../internal/raw-call.ts"), import("./open-io.ts")]);
      return rawCall(summary, { withIo, example: "GET /v1/auth/whoami" });
    },
  },
  {
    name: "session",
    summary: "Your sessions, of programs and of the web console",
    load: async (summary) => {
      const [{ sessionVerbs }, { withIo }] = await Promise.all([
        import("../internal/session-verbs.ts"),
        import("./open-io.ts"),
      ]);
      return group("session", summary, sessionVerbs(withIo));
    },
  },
  {
    name: "profile",
    summary: "Profiles of this machine: saved logins",
    load: async (summary) => group("profile", summary, (await import("./profile/verbs.ts")).profileVerbs()),
  },
  {
    name: "login",
    summary: "Save an endpoint and an API key or a session in a profile",
    load: async (summary) => (await import("./session/login.ts")).login(summary),
  },
  {
    name: "logout",
    summary: "Delete the saved API key, or end the session",
    load: async (summary) => (await import("./session/logout.ts")).logout(summary),
  },
  {
    name: "whoami",
    summary: "Print the claims of the token, or the owner of the API key",
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
