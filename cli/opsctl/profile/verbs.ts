// Defines the verbs of profiles: named endpoints on this machine, with their saved credentials. A profile may have no
// credential. These verbs send no request.
import { type AnyCommand, command, group, listCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import {
  checkProfileName,
  DEFAULT_PROFILE,
  readCredentials,
  readProfiles,
  type SavedCredential,
  writeCredentials,
  writeProfiles,
} from "../../internal/profile.ts";
import type { Environment } from "../../internal/environment.ts";
import { plainText } from "../../internal/plain-text.ts";
import { withIo } from "../../internal/run.ts";
import type { Column } from "../../internal/table.ts";
import { aliasVerbs } from "./alias.ts";

type Row = {
  readonly name: string;
  readonly endpoint: string;
  readonly is_default: boolean;
  readonly credential: "api_key" | "session" | null;
};

const COLUMNS: readonly Column<Row>[] = [
  ["NAME", (row) => row.name],
  ["DEFAULT", (row) => row.is_default ? "yes" : "no"],
  ["ENDPOINT", (row) => row.endpoint],
  ["CREDENTIAL", (row) => row.credential],
];

const PROFILE_ARGUMENT = ["<profile>", "name of the profile (opsctl profile list)"] as const;

export function profileVerbs(): AnyCommand[] {
  return [
    list(),
    use(),
    rename(),
    remove(),
    group("alias", "Aliases of a profile: your own names for command lines", aliasVerbs()),
  ];
}

function list(): AnyCommand {
  return listCommand("list", "List the profiles of this machine")
    .action(withIo(async (io) => {
      const items = await rowsOf(io.environment);
      io.table({ items }, items, COLUMNS, "(no profiles; make one with: opsctl login --profile NAME)");
    }));
}

function use(): AnyCommand {
  return command("use", "Make a profile the default", "lab")
    .argument(...PROFILE_ARGUMENT)
    .action(withIo(async ({ environment, print }, name) => {
      const profiles = await readProfiles(environment);
      need(profiles.endpoints, name);
      await writeProfiles(environment, { ...profiles, default_profile: name });
      print({ name }, `Profile ${plainText(name)} is the default`);
    }));
}

function rename(): AnyCommand {
  return command("rename", "Rename a profile and its credential", "lab hall-2")
    .argument(...PROFILE_ARGUMENT)
    .argument("<new-name>", "1 to 64 letters, digits, dots, hyphens or underscores")
    .action(withIo(async ({ environment, print }, name, new_name) => {
      checkProfileName(new_name);
      const [profiles, credentials] = await Promise.all([readProfiles(environment), readCredentials(environment)]);
      const endpoint = need(profiles.endpoints, name);
      if (profiles.endpoints.has(new_name)) throw usageFailure(`profile ${new_name} exists already`);
      const credential = credentials.get(name);
      // The credential is written first, so that an interruption may leave a copy but never loses the credential.
      if (credential !== undefined) await writeCredentials(environment, credentials.set(new_name, credential));
      profiles.endpoints.delete(name);
      profiles.endpoints.set(new_name, endpoint);
      const aliases = profiles.aliases.get(name);
      if (aliases !== undefined) profiles.aliases.set(new_name, aliases);
      const default_profile = profiles.default_profile === name ? new_name : profiles.default_profile;
      await writeProfiles(environment, { ...profiles, default_profile });
      if (credentials.delete(name)) await writeCredentials(environment, credentials);
      print({ name: new_name }, `Renamed profile ${plainText(name)} to ${plainText(new_name)}`);
    }));
}

function remove(): AnyCommand {
  return deleteCommand(
    "delete",
    "Delete a profile and its credential from this machine; its API key or session stays valid",
    "lab",
  )
    .argument(...PROFILE_ARGUMENT)
    .action(withIo(async ({ environment, print }, name) => {
      const [profiles, credentials] = await Promise.all([readProfiles(environment), readCredentials(environment)]);
      need(profiles.endpoints, name);
      if (credentials.delete(name)) await writeCredentials(environment, credentials);
      profiles.endpoints.delete(name);
      const default_profile = profiles.default_profile === name ? null : profiles.default_profile;
      await writeProfiles(environment, { ...profiles, default_profile });
      print(null, `Deleted profile ${plainText(name)}`);
    }));
}

function need(endpoints: ReadonlyMap<string, string>, name: string): string {
  const endpoint = endpoints.get(name);
  if (endpoint !== undefined) return endpoint;
  throw new Failure(`no profile has the name ${name}; to list them, run: opsctl profile list`, EXIT.not_found);
}

async function rowsOf(environment: Environment): Promise<Row[]> {
  const [{ endpoints, default_profile }, credentials] = await Promise.all([
    readProfiles(environment),
    readCredentials(environment),
  ]);
  return [...endpoints].map(([name, endpoint]) => ({
    name,
    endpoint,
    is_default: name === (default_profile ?? DEFAULT_PROFILE),
    credential: credentialKind(credentials.get(name)),
  }));
}

function credentialKind(saved: SavedCredential | undefined): Row["credential"] {
  if (saved === undefined) return null;
  return "api_key" in saved ? "api_key" : "session";
}
