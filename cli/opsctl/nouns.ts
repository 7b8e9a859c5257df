// Lists the nouns of `opsctl` in the order of the help, with the modules of their verbs. A noun is a group of verbs,
// such as `cn`, or a single command.
import type { AnyCommand } from "../framework.ts";

export type Noun = { readonly name: string; readonly summary: string; load(): Promise<AnyCommand> };

/** Imports the parser when it is called: the front page reads NOUNS and must start without the parser. */
async function group(name: string, summary: string, members: readonly AnyCommand[]): Promise<AnyCommand> {
  return (await import("../framework.ts")).group(name, summary, members);
}

const SUMMARIES = {
  cn: "Compute nodes",
  pi: "Platform images",
  instance: "Instances of all tenants",
  system: "Instances on compute nodes",
  capacity: "Resources of the fleet and of nodes, and their use",
  placement: "Placement decisions and their reasons",
  silo: "Silos, the top of the tenancy hierarchy",
  tenant: "Tenants of a silo",
  project: "Projects of a tenant",
  quota: "Quotas and usage of tenants and projects",
  usage: "Show the usage of every project of all tenants",
  user: "Users, their passwords and capabilities",
  network: "Networks of VPCs on the nodes",
  "nic-tag": "NIC tags: networks that nodes are wired to",
  "external-subnet": "Subnets of public addresses",
  "network-pool": "Pools of external subnets that are used one after another",
  image: "Images of instances, and images of an image index",
  operation: "Operations, running and finished",
  job: "Jobs that node agents run for operations",
  audit: "The audit chain",
  config: "Cluster settings",
  "support-bundle": "Write a support bundle: one archive without secrets",
  doctor: "Check the control plane's invariants; exit code 1 on a violation",
  "api-key": "API keys, your own or a tenant's",
  apply: "Create and change the records of a site as a manifest describes them",
  diff: "Show what apply would change; exit code 1 if it would change something",
  export: "Print the records of the site as a manifest",
  search: "Find nodes, instances, VPCs and other objects by name, address or id",
  api: "Send one request to any route, with the saved endpoint and credential",
  session: "Your sessions, of programs and of the web console",
  profile: "Profiles of this machine: endpoints and credentials",
  login: "Save an endpoint and an API key or a session in a profile",
  logout: "Delete the saved API key of a profile, or end its session",
  whoami: "Show the owner of the credential",
  env: "Print shell exports of the endpoint and the credential",
  completion: "Print a shell completion script",
} as const;

function noun(name: keyof typeof SUMMARIES, load: (summary: string) => Promise<AnyCommand>): Noun {
  const summary = SUMMARIES[name];
  return { name, summary, load: () => load(summary) };
}

export const NOUNS: readonly Noun[] = [
  noun("cn", async (summary) => group("cn", summary, (await import("./cn/verbs.ts")).cnVerbs())),
  noun("pi", async (summary) => group("pi", summary, (await import("./pi/verbs.ts")).piVerbs())),
  noun("system", async (summary) => group("system", summary, (await import("./system/verbs.ts")).systemVerbs())),
  noun(
    "instance",
    async (summary) => group("instance", summary, (await import("./instance/verbs.ts")).instanceVerbs()),
  ),
  noun("capacity", async (summary) => group("capacity", summary, [(await import("./capacity/show.ts")).show()])),
  noun(
    "placement",
    async (summary) => group("placement", summary, (await import("./placement/verbs.ts")).placementVerbs()),
  ),
  noun("silo", async (summary) => group("silo", summary, (await import("./silo/verbs.ts")).siloVerbs())),
  noun("tenant", async (summary) => group("tenant", summary, (await import("./tenant/verbs.ts")).tenantVerbs())),
  noun("project", async (summary) => group("project", summary, (await import("./project/verbs.ts")).projectVerbs())),
  noun("quota", async (summary) => group("quota", summary, (await import("./quota/verbs.ts")).quotaVerbs())),
  noun("usage", async (summary) => (await import("./usage/usage.ts")).usage(summary)),
  noun("user", async (summary) => group("user", summary, (await import("./user/verbs.ts")).userVerbs())),
  noun("network", async (summary) => group("network", summary, [(await import("./network/trace.ts")).trace()])),
  noun("nic-tag", async (summary) => group("nic-tag", summary, (await import("./nic-tag/verbs.ts")).nicTagVerbs())),
  noun(
    "external-subnet",
    async (summary) =>
      group("external-subnet", summary, (await import("./external-subnet/verbs.ts")).externalSubnetVerbs()),
  ),
  noun(
    "network-pool",
    async (summary) => group("network-pool", summary, (await import("./network-pool/verbs.ts")).networkPoolVerbs()),
  ),
  noun(
    "image",
    async (summary) => group("image", summary, (await import("./image/index-verbs.ts")).opsctlImageVerbs()),
  ),
  noun(
    "operation",
    async (summary) => group("operation", summary, (await import("./operation/verbs.ts")).operationVerbs()),
  ),
  noun("job", async (summary) => group("job", summary, (await import("./job/verbs.ts")).jobVerbs())),
  noun("audit", async (summary) => group("audit", summary, (await import("./audit/verbs.ts")).auditVerbs())),
  noun("config", async (summary) => group("config", summary, (await import("./config/verbs.ts")).configVerbs())),
  noun("doctor", async (summary) => (await import("./doctor/doctor.ts")).doctor(summary)),
  noun(
    "support-bundle",
    async (summary) => (await import("./support-bundle/support-bundle.ts")).supportBundle(summary),
  ),
  noun("api-key", async (summary) => group("api-key", summary, (await import("./api-key/verbs.ts")).apiKeyVerbs())),
  noun("apply", async (summary) => (await import("./manifest/verbs.ts")).applySite(summary)),
  noun("diff", async (summary) => (await import("./manifest/verbs.ts")).diffSite(summary)),
  noun("export", async (summary) => (await import("./manifest/verbs.ts")).exportSite(summary)),
  noun("search", async (summary) => {
    const [{ search }, { withIo }] = await Promise.all([import("../internal/search.ts"), import("../internal/run.ts")]);
    return search(summary, withIo);
  }),
  noun("api", async (summary) => {
    const [{ rawCall }, { withIo }] = await Promise.all([
      import("../internal/raw-call.ts"),
      import("../internal/run.ts"),
    ]);
    return rawCall(summary, { withIo, example: "GET /v1/system/summary" });
  }),
  noun("session", async (summary) => {
    const [{ sessionVerbs }, { withIo }] = await Promise.all([
      import("../internal/session-verbs.ts"),
      import("../internal/run.ts"),
    ]);
    return group("session", summary, sessionVerbs(withIo));
  }),
  noun("profile", async (summary) => group("profile", summary, (await import("./profile/verbs.ts")).profileVerbs())),
  noun("login", async (summary) => (await import("./session/login.ts")).login(summary)),
  noun("logout", async (summary) => (await import("./session/logout.ts")).logout(summary)),
  noun("whoami", async (summary) => (await import("./session/whoami.ts")).whoami(summary)),
  noun("env", async (summary) => (await import("./session/env.ts")).env(summary)),
  noun("completion", async (summary) => (await import("./completion/completion.ts")).completion(summary)),
];
