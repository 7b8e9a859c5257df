// Lists the import rules. The first rule whose `of` matches a file applies to the file; a file without a rule may
// import anything.
import type { Import } from "./sources.ts";

export type ImportRule = {
  readonly of: RegExp;
  /** Files of the project that may be imported. */
  readonly files: readonly RegExp[];
  /** Files of which only types may be imported. */
  readonly types?: readonly RegExp[];
  readonly packages: RegExp;
  /** Packages of which only types may be imported. */
  readonly typePackages?: RegExp;
  readonly rule: string;
  readonly fix: string;
};

const CONTRACT = /^src\/contract\//;
/** The part of the contract without schemas, so that no schema code reaches an executable. */
const CONTRACT_VALUES = /^src\/contract\/(?:enums|limits|fault)\.ts$/;
const LIB = /^src\/lib\//;
/** Code that fetches URLs on behalf of callers. Every program may import it. */
const OUTBOUND = /^src\/outbound\//;
const ENGINE = /^actors\/engine\//;
/** Code that describes and queries records of every kind. */
const RECORD = /^actors\/record\/(?!reads\.ts)/;
const RECORD_READS = /^actors\/record\/reads\.ts$/;
const NONE = /^$/;
/** Files that all programs of cli share. */
const SHARED_CLI = /^cli\/(?:(?:internal|image)\/|[\w-]+\.ts$)/;
/** Packages that an executable may contain: all except the server's packages. */
const EXECUTABLE_PACKAGES = /^(?!@?hono\b|kysely$|pg$|@logtape\/|prom-client$)/;
/**
 * The transition.ts of a kind. Other files may import only its types and its constants (an actor's address, a lock's
 * name, a refusal), never its table, cells or behavior.
 */
const TRANSITION = /^actors\/[\w-]+\/transition\.ts$/;

export const IMPORT_RULES: readonly ImportRule[] = [
  {
    of: CONTRACT,
    files: [CONTRACT],
    packages: /^zod$/,
    rule: "src/contract is the leaf of the import graph: it imports itself and zod",
    fix: "move the imported code into src/contract, or move the file out of it",
  },
  {
    of: LIB,
    files: [LIB, CONTRACT],
    packages: /^node:(?:crypto|buffer)$/,
    rule: "src/lib holds small exact functions: it imports itself, the contract and node:crypto",
    fix: "pass the value as a parameter",
  },
  {
    of: ENGINE,
    files: [ENGINE, CONTRACT],
    packages: /^node:crypto$/,
    rule: "actors/engine depends on no kind and no database: it imports itself and the contract",
    fix: "add a port to actors/engine/ports.ts or store.ts and construct it in src/wiring.ts",
  },
  {
    of: /^actors\/sagas\//,
    files: [ENGINE, CONTRACT, LIB, /^actors\/sagas\//, /^actors\/[\w-]+\/(?!transition\.ts)/],
    packages: NONE,
    rule: "a saga sends messages to actors and never imports a transition",
    fix: "use withActor() or tell() with the other kind's message",
  },
  {
    of: /^actors\/registry\.ts$/,
    files: [/^actors\//],
    packages: NONE,
    rule: "the registry lists the kinds of actors/ and imports nothing else",
    fix: "construct other dependencies in src/wiring.ts",
  },
  {
    of: /^actors\/[\w-]+\/reads\.ts$/,
    files: [ENGINE, CONTRACT, LIB, RECORD_READS],
    types: [/^src\/db\/tables\.ts$/],
    packages: /^kysely$/,
    rule: "reads.ts queries with Kysely over the table types, and depends on no other kind",
    fix: "read the other kind's rows through its own reads.ts, from the route",
  },
  {
    of: /^actors\//,
    files: [ENGINE, CONTRACT, LIB, TRANSITION, RECORD],
    types: [/^actors\/[\w-]+\/(?:messages|state)\.ts$/],
    packages: NONE,
    rule: "an actor kind imports the engine, the contract and src/lib, never another kind's transition",
    fix: "emit withActor() or tell() with the other kind's message",
  },
  {
    of: /^src\/services\//,
    files: [
      /^src\/services\//,
      CONTRACT,
      LIB,
      /^src\/(?:auth|http)\//,
      /^actors\/[\w-]+\/(?:messages|reads|view)\.ts$/,
      TRANSITION,
    ],
    types: [/^src\/db\/tables\.ts$/, /^actors\//, /^src\/routes\/deps\.ts$/, /^src\/image-store\/store\.ts$/],
    packages: /^(?:zod|node:crypto|kysely)$/,
    rule: "a service is shared by several routes: it reads and sends, and defines no route",
    fix: "define the route in src/routes, and put a decision into the actor's table",
  },
  {
    of: /^src\/routes\//,
    files: [
      /^src\/routes\//,
      /^src\/services\//,
      CONTRACT,
      LIB,
      /^src\/(?:auth|http)\//,
      /^actors\/[\w-]+\/(?:messages|reads|view)\.ts$/,
      TRANSITION,
    ],
    types: [/^src\/db\/tables\.ts$/, /^actors\//, /^src\/image-store\/store\.ts$/],
    packages: /^(?:zod|hono(?:\/.*)?|@hono\/zod-openapi|node:crypto)$/,
    // A route passes values of these types on to reads.ts.
    typePackages: /^kysely$/,
    rule: "a route parses, sends a message or reads, and shows the result: no transition, no SQL",
    fix: "put the decision into the actor's table and the query into its reads.ts",
  },
  {
    of: /^src\/(?:auth|http)\//,
    files: [/^src\/(?:auth|http)\//, CONTRACT, LIB, /^src\/db\//],
    types: [OUTBOUND],
    packages: /^(?:zod|hono(?:\/.*)?|@hono\/zod-openapi|prom-client|@logtape\/logtape|jose|hash-wasm|ws|node:.*)$/,
    rule: "src/auth and src/http do not depend on actors",
    fix: "pass a function from src/wiring.ts",
  },
  {
    of: OUTBOUND,
    files: [OUTBOUND, CONTRACT, LIB],
    packages: /^node:/,
    rule: "src/outbound connects to other hosts and depends on no database, route or credential",
    fix: "pass the value as a parameter",
  },
  {
    of: /^src\/image-store\//,
    files: [/^src\/image-store\//, CONTRACT, LIB, /^actors\/[\w-]+\/reads\.ts$/],
    types: [/^src\/db\//],
    packages: /^(?:aws4fetch$|node:)/,
    rule: "src/image-store stores bytes of images and depends on no route",
    fix: "pass a function from src/wiring.ts",
  },
  {
    of: /^src\/db\//,
    files: [/^src\/db\//, ENGINE, CONTRACT, LIB],
    types: [/^actors\/[\w-]+\/state\.ts$/],
    packages: /^(?:kysely|pg|node:.*)$/,
    rule: "src/db stores and reads rows: it depends on the engine's ports and on the row types of the kinds",
    fix: "pass a function from src/wiring.ts",
  },
  {
    of: /^src\/doctor\//,
    files: [/^src\/doctor\//, CONTRACT, LIB, /^src\/db\//],
    packages: NONE,
    rule: "src/doctor queries tables and depends on no kind's code",
    fix: "pass the value from src/wiring.ts",
  },
  {
    of: /^src\/workers\//,
    files: [/^src\/workers\//, ENGINE, CONTRACT, LIB, /^actors\/registry\.ts$/],
    packages: /^node:crypto$/,
    rule: "src/workers drives the engine and depends on no kind",
    fix: "pass a function from src/wiring.ts",
  },
  {
    of: /^console\/(?:build|bundle)\.ts$/,
    files: [/^console\//],
    packages: /^(?:esbuild$|node:)/,
    rule: "the build of the console imports esbuild and node",
    fix: "put code of the pages into another file of console",
  },
  {
    of: /^console\/(?:terminal|charts)\//,
    files: [/^console\/(?!build|bundle)/, LIB, CONTRACT_VALUES],
    types: [CONTRACT],
    packages: /^(?:@xterm\/(?:xterm|addon-fit)|uplot)$/,
    rule:
      "the terminal and the charts of the console import their own packages, and everything that the console may import",
    fix: "put code of the pages into console/parts",
  },
  {
    of: /^console\//,
    files: [/^console\/(?!build|bundle)/, LIB, CONTRACT_VALUES],
    types: [CONTRACT],
    packages: /^(?:preact(?:\/hooks)?|@preact\/signals)$/,
    rule: "the console imports itself, the contract's types and plain values, src/lib and its packages",
    fix: "import type from src/contract, or take the value from enums.ts, limits.ts or fault.ts",
  },
  {
    of: /^cli\/manual\/programs\.ts$/,
    files: [/^(?:booter|index-builder|nodeagent)\/program\.ts$/, /^cli\//],
    packages: NONE,
    rule: "the manual reads every executable's command tree and belongs to no executable",
    fix: "use the tree, or code in cli/",
  },
  {
    // Programs share the files at the top of cli, in cli/internal and in cli/image.
    of: /^(?:cli\/(?:opsctl|tenantctl)|booter|index-builder|nodeagent)\//,
    files: [LIB, OUTBOUND, CONTRACT_VALUES, SHARED_CLI, /^package\.json$/],
    types: [CONTRACT],
    packages: EXECUTABLE_PACKAGES,
    rule:
      "a program imports its own folder, the shared parts of cli, the contract's types and plain values, src/lib and src/outbound",
    fix: "move code of two programs into cli/internal",
  },
  {
    of: /^cli\/(?:internal|image)\//,
    files: [LIB, OUTBOUND, CONTRACT_VALUES, SHARED_CLI, /^package\.json$/],
    types: [CONTRACT],
    packages: EXECUTABLE_PACKAGES,
    rule: "the shared parts of cli import no program",
    fix: "pass the value as a parameter",
  },
  {
    of: /^cli\//,
    files: [LIB, OUTBOUND, CONTRACT_VALUES, /^package\.json$/],
    types: [CONTRACT],
    packages: EXECUTABLE_PACKAGES,
    rule: "an executable imports the contract's types and plain values, src/lib, src/outbound and its own folder",
    fix: "import type from src/contract, or take the value from enums.ts, limits.ts or fault.ts",
  },
];

/** Packages that only one file may import, so that they can be replaced. */
export const SOLE_IMPORTERS: Readonly<Record<string, string>> = {
  pg: "src/db/pool.ts",
  "@commander-js/extra-typings": "cli/framework.ts",
};

/** Returns whether the file may have this import. A file of a kind or a program may always import its own folder. */
export function allows(rule: ImportRule, path: string, { from, isLocal, isType, names }: Import): boolean {
  if (!isLocal) return rule.packages.test(from) || (isType && (rule.typePackages?.test(from) ?? false));
  if (ownFolder(path) !== null && from.startsWith(`${ownFolder(path)}/`)) return true;
  if (isType && (rule.types ?? []).some((each) => each.test(from))) return true;
  if (!rule.files.some((each) => each.test(from))) return false;
  return isType || !TRANSITION.test(from) || !takesConstants(path) || constantsOnly(names);
}

function ownFolder(path: string): string | null {
  return /^(?:actors\/[\w-]+|booter|cli\/(?:opsctl|tenantctl)|cli|index-builder|nodeagent)(?=\/)/.exec(path)?.[0] ??
    null;
}

/** Returns whether the file may import only constants and types of a transition.ts. The registry imports behaviors. */
function takesConstants(path: string): boolean {
  return path !== "actors/registry.ts";
}

function constantsOnly(names: readonly string[]): boolean {
  return names.every((name) => /^[A-Z][A-Z0-9_]*$/.test(name));
}
