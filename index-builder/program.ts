// Defines the command line of index-builder.
import { readFile } from "node:fs/promises";
import process from "node:process";
import { type AnyCommand, command, each, group, oneOf, type Verb } from "../cli/framework.ts";
import type { Environment } from "../cli/internal/environment.ts";
import { EXIT, type ExitCode, INDEX_EXIT } from "../cli/internal/exit-code.ts";
import { Ended, Failure, usageFailure } from "../cli/internal/failure.ts";
import { environmentOf, runCommand } from "../cli/internal/run.ts";
import { VERSION } from "../cli/version.ts";
import { fileProblem, unreadable } from "../cli/internal/file-problem.ts";
import { messageOf } from "./fault.ts";
import { EXPECTED, type Part } from "./publish/assemble.ts";
import { readFragment, removeFragment, writeFragment } from "./publish/fragment.ts";
import { readPublished, siteAt } from "./publish/site.ts";
import { checkSums, readSigningKey } from "./publish/sums.ts";
import { beforeOf, count, type RunSetting, runVendors, withSite, writeSite, type Writing } from "./run.ts";
import { type Summary, summaryText } from "./summary.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { checkFiles } from "./tree/check.ts";
import { readTreeFiles, TreeProblem } from "./tree/load.ts";
import { openapiText } from "./tree/openapi.ts";
import type { Vendor } from "./vendor.ts";
import { VENDORS } from "./vendors/all.ts";
import { openExchange } from "./web/open.ts";

/**
 * The environment variable with the passphrase of the signing key. The passphrase is not an argument, because all users
 * of a machine can see arguments.
 */
const PASSPHRASE_VARIABLE = "INDEX_SIGN_PASSPHRASE";

export function buildIndexBuilder(): AnyCommand {
  const root = group(
    "index-builder",
    "Build an image index from the vendors' publications",
    [
      command("vendors", "List the vendors in the order of publication", "--json")
        .option("--json", "print a JSON array, for example for a matrix of CI jobs")
        .action(running(listVendors)),
      withWeb(command(
        "vendor",
        "Build one vendor's part of the index into a folder, the fragment",
        "debian --previous site --out fragments/debian",
      ))
        .argument("<name>", "a vendor's id")
        .requiredOption("--previous <site>", "the site to take dates, archives and trust state from")
        .requiredOption("--out <fragment>", "the folder to write; an existing folder is removed first")
        .action(running(buildVendor)),
      withOutput(command(
        "assemble",
        "Merge fragments into a site; the images of other vendors stay",
        "fragments/debian fragments/ubuntu --site site",
      ))
        .argument("<fragment...>", "folders that `vendor` wrote; a folder without v1/ is skipped")
        .requiredOption("--site <site>", "the site to write")
        .option("--json", "print a JSON summary on stdout")
        .action(running(assemble)),
      withWeb(withOutput(command("all", "Build every vendor and publish the site", "--site site")))
        .requiredOption("--site <site>", "the site to write")
        .option("--vendor <name>", "build only this vendor; may be repeated", each)
        .action(running(buildAll)),
      command("verify", "Check a site against every rule and list all problems", "site --key index-key.asc")
        .argument("<site>", "a site, or any folder with an index")
        .option("--key <file>", "the public key that must have signed the tree")
        .option("--json", "print a JSON summary")
        .action(running(verify)),
      command("openapi", "Print the API description (v1/openapi.json)").action(running(printOpenapi)),
    ].map((verb) => verb as AnyCommand),
  );
  root.version(VERSION, "-V, --version", "print the version");
  return root;
}

export async function runIndexBuilder(argv: readonly string[], environment: Environment): Promise<ExitCode> {
  return await runCommand(buildIndexBuilder(), argv, environment);
}

/**
 * Returns the action of a command. The action opens a terminal and calls `body` with the terminal. `body` returns the
 * exit code. If `body` throws an error that is not a Failure, the exit code is `site`.
 */
function running<R extends unknown[]>(body: (terminal: Terminal, ...rest: R) => ExitCode | Promise<ExitCode>) {
  return async (...rest: R): Promise<void> => {
    const terminal = openTerminal(environmentOf(rest.at(-1) as AnyCommand));
    const code = await (async () => await body(terminal, ...rest))().catch((error) => {
      terminal.status("");
      throw error instanceof Failure ? error : new Failure(fileProblem(error) ?? messageOf(error), INDEX_EXIT.site);
    });
    if (code !== EXIT.ok) throw new Ended(code);
  };
}

function listVendors(terminal: Terminal, { json }: { json?: true | undefined }): ExitCode {
  const ids = VENDORS.map(({ id }) => id);
  terminal.out(json === true ? JSON.stringify(ids) : ids.join("\n"));
  return EXIT.ok;
}

function printOpenapi(terminal: Terminal): ExitCode {
  terminal.out(openapiText().trimEnd());
  return EXIT.ok;
}

async function buildVendor(
  terminal: Terminal,
  name: string,
  options: WebOptions & { previous: string; out: string },
): Promise<ExitCode> {
  const [vendor] = named([name]);
  await removeFragment(options.out);
  const before = beforeOf(await readPublished(siteAt(options.previous)));
  const { setting, save } = await settingOf(options, terminal);
  const [outcome] = await runVendors([vendor!], before, setting);
  await save();
  if (outcome!.ok) await writeFragment(options.out, vendor!.id, outcome!);
  return finish({ outcomes: [outcome!], writing: null, json: options.json === true }, terminal);
}

async function assemble(
  terminal: Terminal,
  folders: string[],
  options: OutputOptions & { site: string },
): Promise<ExitCode> {
  const site = siteAt(options.site);
  const parts = new Map<string, Part>();
  const unreadable: string[] = [];
  for (const folder of folders) {
    try {
      const found = await readFragment(folder);
      if (found === null) terminal.line(`${folder}: skipped, because it has no folder v1/`);
      for (const [id, part] of found ?? []) parts.set(id, part);
    } catch (error) {
      unreadable.push(`${folder}: ${messageOf(error)}`);
      terminal.line(`${folder}: ${messageOf(error)}`);
    }
  }
  if (parts.size === 0) throw new TreeProblem("no fragment could be used, so nothing was written");
  const setting = { now: new Date(), signing_key: await signingKeyOf(options), terminal };
  const writing = await withSite(site, (before, published) => writeSite(site, published, { before, parts, setting }));
  const ended = finish({ outcomes: [], writing: writing ?? { kind: "busy" }, json: options.json === true }, terminal);
  return ended === EXIT.ok && unreadable.length > 0 ? EXIT.failure : ended;
}

async function buildAll(
  terminal: Terminal,
  options: WebOptions & OutputOptions & { site: string; vendor?: readonly string[] | undefined },
): Promise<ExitCode> {
  const site = siteAt(options.site);
  const vendors = options.vendor === undefined ? VENDORS : named(options.vendor);
  const { setting, save } = await settingOf(options, terminal);
  const done = await withSite(site, async (before, published) => {
    const outcomes = await runVendors(vendors, before, setting);
    const parts = new Map(outcomes.flatMap((outcome) => outcome.ok ? [[outcome.id, outcome] as const] : []));
    // If every vendor failed, the site stays as it is, or is not created.
    const writing = parts.size === 0 ? null : await writeSite(site, published, { before, parts, setting });
    return { outcomes, writing };
  });
  await save();
  return finish({ ...(done ?? { outcomes: [], writing: { kind: "busy" } }), json: options.json === true }, terminal);
}

async function verify(
  terminal: Terminal,
  path: string,
  options: { key?: string | undefined; json?: true | undefined },
): Promise<ExitCode> {
  const files = await readTreeFiles(path);
  if (files === null) throw new TreeProblem(`${path}: contains no index`);
  const key = options.key === undefined ? null : await readFile(options.key).catch(keyFailure("--key", options.key));
  const problems = [...checkFiles(files, EXPECTED), ...await checkSums(files, { key, now: new Date() })];
  if (options.json === true) terminal.out(JSON.stringify({ files: files.size, problems }, null, 2));
  else for (const problem of problems) terminal.out(problem);
  terminal.line(problems.length === 0 ? `${files.size} files, no problems` : count(problems.length, "problem"));
  return problems.length === 0 ? EXIT.ok : EXIT.failure;
}

type OutputOptions = { json?: true | undefined; signKey?: string | undefined };
type WebOptions = OutputOptions & {
  recorded?: readonly string[] | undefined;
  record?: string | undefined;
  signatures?: "off" | "check" | "require" | undefined;
  at?: Date | undefined;
  accept?: readonly string[] | undefined;
};

function withOutput<A extends unknown[], O extends Record<string, unknown>>(verb: Verb<A, O>) {
  return verb
    .option(
      "--sign-key <file>",
      `sign the tree with this armored private key; ${PASSPHRASE_VARIABLE} holds its passphrase`,
    );
}

function withWeb<A extends unknown[], O extends Record<string, unknown>>(verb: Verb<A, O>) {
  return verb
    .option(
      "--recorded <folder>",
      "read recorded responses instead of the internet; may be repeated: the first folder that has a URL is used",
      each,
    )
    .option("--record <folder>", "record every response in this folder")
    .addOption(
      oneOf(
        "--signatures <mode>",
        "how to treat vendors' signatures (default: check; off with --recorded)",
        ["off", "check", "require"],
      ),
    )
    .option(
      "--accept <vendor>",
      "accept older documents and changed files of this vendor in this run; may be repeated",
      each,
    )
    .option("--at <time>", "use this time (RFC 3339) as the current time", moment)
    .option("--json", "print a JSON summary on stdout");
}

function moment(text: string): Date {
  const date = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}T.+Z$/.test(text) || Number.isNaN(date.getTime())) {
    throw usageFailure(`--at ${text}: must be a UTC time such as 2026-10-09T05:17:00Z`);
  }
  return date;
}

function named(names: readonly string[]): Vendor[] {
  const unknown = names.filter((name) => !VENDORS.some(({ id }) => id === name));
  if (unknown.length > 0) {
    throw usageFailure(
      `unknown vendor ${unknown.join(", ")}; the vendors are ${VENDORS.map(({ id }) => id).join(", ")}`,
    );
  }
  return VENDORS.filter(({ id }) => names.includes(id));
}

async function settingOf(
  options: WebOptions,
  terminal: Terminal,
): Promise<{ setting: RunSetting; save(): Promise<void> }> {
  const recorded = options.recorded !== undefined;
  const { exchange, save } = await openExchange({ recorded: options.recorded ?? [], record: options.record ?? null });
  const signatures = options.signatures ?? (recorded ? "off" : "check");
  const now = options.at ?? new Date();
  return {
    setting: {
      exchange,
      signatures,
      now,
      terminal,
      recorded,
      signing_key: await signingKeyOf(options),
      accepted: named(options.accept ?? []).map(({ id }) => id),
    },
    save,
  };
}

async function signingKeyOf({ signKey }: OutputOptions) {
  if (signKey === undefined) return null;
  return await readSigningKey(signKey, process.env[PASSPHRASE_VARIABLE] ?? null)
    .catch(keyFailure("--sign-key", signKey));
}

/** Returns a handler for errors while a key's file is read. Adds the option and the path to an error of the file. */
function keyFailure(option: string, path: string) {
  return (error: unknown): never => {
    throw fileProblem(error) === null ? error : new Failure(unreadable(path, option, error).message, INDEX_EXIT.site);
  };
}

function finish(
  result: { outcomes: Summary["outcomes"]; writing: Writing | null; json: boolean },
  terminal: Terminal,
): ExitCode {
  const { outcomes, writing, json } = result;
  terminal.status("");
  if (json) terminal.out(summaryText(result));
  if (writing?.kind === "busy") terminal.line("another builder runs on this site; try again later");
  if (writing?.kind === "refused") { for (const problem of writing.problems) terminal.line(problem); }
  if (writing?.kind === "published") terminal.line(`published generation ${writing.generation}`);
  if (writing?.kind === "unchanged") terminal.line("nothing changed");
  if (writing?.kind === "busy") return INDEX_EXIT.busy;
  if (writing?.kind === "refused") return INDEX_EXIT.site;
  if (outcomes.some(({ ok }) => !ok)) return EXIT.failure;
  return outcomes.some(({ notes }) => notes.some(({ level }) => level === "alarm")) ? INDEX_EXIT.alarm : EXIT.ok;
}
