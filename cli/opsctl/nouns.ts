// Every word that may follow `opsctl`, in the order of the help, and where its verbs are.
import { type AnyCommand, group } from "../framework.ts";

export type Noun = { readonly name: string; readonly summary: string; load(): Promise<AnyCommand> };

const SUMMARIES = {
  cn: "Compute nodes",
  pi: "Platform images",
  system: "What stands on compute nodes",
  image: "Images of an image index",
  operation: "Operations in progress and done",
  audit: "The audit chain",
  config: "Cluster settings",
  "api-key": "Your API keys",
  login: "Save an endpoint and an API key in a profile",
  logout: "Erase the saved API key of a profile",
  whoami: "Show who the credential belongs to",
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
  noun("image", async (summary) => group("image", summary, (await import("../image/in-opsctl.ts")).opsctlImageVerbs())),
  noun(
    "operation",
    async (summary) => group("operation", summary, (await import("./operation/verbs.ts")).operationVerbs()),
  ),
  noun("audit", async (summary) => group("audit", summary, (await import("./audit/verbs.ts")).auditVerbs())),
  noun("config", async (summary) => group("config", summary, (await import("./config/verbs.ts")).configVerbs())),
  noun("api-key", async (summary) => group("api-key", summary, (await import("./api-key/verbs.ts")).apiKeyVerbs())),
  noun("login", async (summary) => (await import("./session/login.ts")).login(summary)),
  noun("logout", async (summary) => (await import("./session/logout.ts")).logout(summary)),
  noun("whoami", async (summary) => (await import("./session/whoami.ts")).whoami(summary)),
  noun("env", async (summary) => (await import("./session/env.ts")).env(summary)),
  noun("completion", async (summary) => (await import("./completion/completion.ts")).completion(summary)),
];
