// Lists, saves and deletes the aliases of the profile in use. `expand.ts` replaces an alias by its words.
import { type AnyCommand, command, listCommand } from "../../framework.ts";
import { deleteCommand } from "../../internal/delete-command.ts";
import { profileName } from "../../internal/connection.ts";
import { EXIT } from "../../internal/exit-code.ts";
import { Failure, usageFailure } from "../../internal/failure.ts";
import type { Io } from "../../internal/io.ts";
import { plainText } from "../../internal/plain-text.ts";
import { type Aliases, readProfiles, writeProfiles } from "../../internal/profile.ts";
import { withIo } from "../../internal/run.ts";
import { shellQuote } from "../../internal/shell-quote.ts";
import type { Column } from "../../internal/table.ts";

type Row = { readonly name: string; readonly words: readonly string[] };

const COLUMNS: readonly Column<Row>[] = [
  ["NAME", (row) => row.name],
  ["COMMAND", (row) => commandText(row.words)],
];
const ALIAS_ARGUMENT = ["<alias>", "name of the alias"] as const;
/** An option with a secret, which an alias must not contain: other users can read the file of profiles. */
const SECRET_OPTION = /^--api-key(=|$)/;
/** A word that a shell needs no quotes for. */
const PLAIN_WORD = /^[A-Za-z0-9_.,:=/@%+-]+$/;

export function aliasVerbs(): AnyCommand[] {
  return [list(), set(), remove()];
}

function list(): AnyCommand {
  return listCommand("list", "List the aliases of the profile in use")
    .action(withIo(async (io, _, member: AnyCommand) => {
      const { aliases } = await ofProfile(io, member);
      const items = [...aliases].map(([name, words]): Row => ({ name, words }));
      io.table({ items }, items, COLUMNS, "(no aliases; make one with: opsctl profile alias set NAME -- WORDS)");
    }));
}

function set(): AnyCommand {
  return command("set", "Save the words of a command line under a name", "silent -- cn list --filter ready!=yes")
    .argument("<alias>", "1 to 64 lowercase letters, digits or hyphens; not the name of a command")
    .argument("<words...>", "the command line after opsctl, in quotes or after --")
    .action(withIo(async (io, name, given, _, member: AnyCommand) => {
      const words = wordsOf(given);
      const { profiles, profile, aliases } = await ofProfile(io, member);
      const nouns = (await import("../nouns.ts")).NOUNS.map((noun) => noun.name);
      if (!/^[a-z][a-z0-9-]{0,63}$/.test(name)) {
        throw usageFailure("an alias is 1 to 64 lowercase letters, digits or hyphens, and begins with a letter");
      }
      if (nouns.includes(name) || name === "help") throw usageFailure(`${name} is a command; choose another name`);
      if (!nouns.includes(words[0] ?? "")) {
        throw usageFailure(`an alias begins with a command such as cn, not with ${words[0]}`);
      }
      if (words.some((word) => SECRET_OPTION.test(word))) {
        throw usageFailure("an alias must not contain an API key; save the key with: opsctl login");
      }
      profiles.aliases.set(profile, new Map([...aliases, [name, words]]));
      await writeProfiles(io.environment, profiles);
      io.print({ name, words }, `Alias ${name} of profile ${plainText(profile)} is: opsctl ${commandText(words)}`);
    }));
}

/** Splits a command line that is one quoted argument. */
function wordsOf(given: readonly string[]): readonly string[] {
  const [line = "", second] = given;
  if (second !== undefined || !/\s/.test(line)) return given;
  if (/["'\\]/.test(line)) {
    throw usageFailure(
      "the command line contains quotes; give each word as an argument: opsctl profile alias set NAME -- WORDS",
    );
  }
  return line.trim().split(/\s+/);
}

function remove(): AnyCommand {
  return deleteCommand("delete", "Delete an alias", "silent")
    .argument(...ALIAS_ARGUMENT)
    .action(withIo(async (io, name, _, member: AnyCommand) => {
      const { profiles, profile, aliases } = await ofProfile(io, member);
      if (!aliases.has(name)) {
        throw new Failure(
          `profile ${profile} has no alias ${name}; to list them, run: opsctl profile alias list`,
          EXIT.not_found,
        );
      }
      profiles.aliases.set(profile, new Map([...aliases].filter(([each]) => each !== name)));
      await writeProfiles(io.environment, profiles);
      io.print(null, `Deleted alias ${plainText(name)}`);
    }));
}

async function ofProfile(io: Io, member: AnyCommand) {
  const profiles = await readProfiles(io.environment);
  const profile = await profileName(io.environment, member.optsWithGlobals());
  if (!profiles.endpoints.has(profile)) {
    throw new Failure(`no profile has the name ${profile}; make one with: opsctl login`, EXIT.not_found);
  }
  const aliases: Aliases = profiles.aliases.get(profile) ?? new Map();
  return { profiles, profile, aliases };
}

function commandText(words: readonly string[]): string {
  return words.map((word) => PLAIN_WORD.test(word) ? word : shellQuote(plainText(word))).join(" ");
}
