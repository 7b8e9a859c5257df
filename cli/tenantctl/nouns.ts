// Every word that may follow `tenantctl`, in the order of the help, and where its verbs are.
import { type AnyCommand, group } from "../framework.ts";

export type Noun = { readonly name: string; readonly summary: string; load(summary: string): Promise<AnyCommand> };

export const NOUNS: readonly Noun[] = [
  {
    name: "image",
    summary: "Images of an image index",
    load: async (summary) => group("image", summary, (await import("./image.ts")).tenantImageVerbs()),
  },
  {
    name: "login",
    summary: "Save an endpoint and an API key",
    load: async (summary) => (await import("./session/login.ts")).login(summary),
  },
  {
    name: "logout",
    summary: "Erase the saved API key",
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
