// Defines the verbs of profiles. A profile is a login that is saved on this machine under a name. A user may have
// profiles for several control planes, tenants or users. These verbs send no request.
import { type AnyCommand, command, listCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import type { Environment } from "../../internal/environment.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import { nearNames } from "../../../src/lib/text/near-names.ts";
import { plainText } from "../../internal/plain-text.ts";
import { checkProfileName, DEFAULT_PROFILE } from "../../internal/profile.ts";
import type { Column } from "../../internal/table.ts";
import { withIo } from "../open-io.ts";
import {
  defaultProfile,
  eraseLogin,
  listProfiles,
  readLogin,
  renameLogin,
  type SavedLogin,
  useProfile,
} from "../session/saved-login.ts";

type Row = {
  readonly name: string;
  readonly endpoint: string | null;
  readonly is_default: boolean;
  readonly credential: "api_key" | "session" | "damaged";
  /** The user of a session; null for an API key and for a damaged login. */
  readonly username: string | null;
};

const COLUMNS: readonly Column<Row>[] = [
  ["NAME", (row) => row.name],
  ["DEFAULT", (row) => row.is_default ? "yes" : "no"],
  ["ENDPOINT", (row) => row.endpoint],
  ["CREDENTIAL", (row) => row.credential],
  ["USER", (row) => row.username],
];

const PROFILE_ARGUMENT = ["<name>", "name of the profile (tenantctl profile list)"] as const;

export function profileVerbs(): AnyCommand[] {
  return [list(), use(), rename(), remove()];
}

function list(): AnyCommand {
  return listCommand("list", "List the profiles of this machine")
    .action(withIo(async (io) => {
      const chosen = await defaultProfile(io.environment);
      const names = await listProfiles(io.environment);
      const items = await Promise.all(names.map((name) => rowOf(io.environment, name, name === chosen)));
      io.table({ items }, items, COLUMNS, "(no profiles; make one with: tenantctl login --profile NAME)");
    }));
}

function use(): AnyCommand {
  return command("use", "Make a profile the default", "lab")
    .argument(...PROFILE_ARGUMENT)
    .action(withIo(async (io, name) => {
      await need(io.environment, name);
      await useProfile(io.environment, name);
      io.print({ name }, `Profile ${plainText(name)} is the default`);
    }));
}

function rename(): AnyCommand {
  return command("rename", "Rename a profile", "lab hall-2")
    .argument(...PROFILE_ARGUMENT)
    .argument("<new-name>", "1 to 64 letters, digits, dots, hyphens or underscores")
    .action(withIo(async (io, name, new_name) => {
      const names = await need(io.environment, name);
      if (names.includes(checkProfileName(new_name))) throw usageFailure(`profile ${new_name} exists already`);
      await renameLogin(io.environment, name, new_name);
      if (await defaultProfile(io.environment) === name) await useProfile(io.environment, new_name);
      io.print({ name: new_name }, `Renamed profile ${plainText(name)} to ${plainText(new_name)}`);
    }));
}

function remove(): AnyCommand {
  return deleteCommand("delete", "Delete a profile from this machine; its API key or session stays valid", "lab")
    .argument(...PROFILE_ARGUMENT)
    .action(withIo(async (io, name) => {
      await need(io.environment, name);
      await eraseLogin(io.environment, name);
      if (await defaultProfile(io.environment) === name) await useProfile(io.environment, DEFAULT_PROFILE);
      io.print(null, `Deleted profile ${plainText(name)}`);
    }));
}

/** Returns the names of all profiles with a login. Throws a Failure if `name` is not one of them. */
async function need(environment: Environment, name: string): Promise<readonly string[]> {
  const names = await listProfiles(environment);
  if (names.includes(name)) return names;
  const near = nearNames(names, name);
  const hint = near.length === 0 ? "to list them, run: tenantctl profile list" : `did you mean ${near.join(" or ")}?`;
  throw new Failure(`no profile has the name ${name}; ${hint}`, EXIT.not_found);
}

async function rowOf(environment: Environment, name: string, is_default: boolean): Promise<Row> {
  const login = await readLogin(environment, name).catch((): "damaged" => "damaged");
  if (login === null || login === "damaged") {
    return { name, endpoint: null, is_default, credential: "damaged", username: null };
  }
  return { name, endpoint: login.endpoint, is_default, ...credentialOf(login) };
}

function credentialOf(login: SavedLogin): Pick<Row, "credential" | "username"> {
  return "api_key" in login
    ? { credential: "api_key", username: null }
    : { credential: "session", username: login.username };
}
