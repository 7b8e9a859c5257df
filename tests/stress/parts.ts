// Lists the parts of the stress tests. A part runs one or several programs. Each program exits with 0 on success, and
// prints what it tested, which faults occurred and what failed.

export type Part = {
  readonly name: string;
  /** The option that sets the part's size. Size 0 omits the part. */
  readonly option: Option;
  /** Returns the arguments of `deno run -A` for each program. The programs run one after the other. */
  readonly programs: (size: number, seed: number) => readonly (readonly string[])[];
  /**
   * True for a part that runs after all parts without `last`, because it measures times that a busy machine would
   * distort.
   */
  readonly last?: boolean;
};

/** The sizes of a complete run. */
export const SIZES = {
  /** Simulated histories. */
  histories: 100_000,
  /** 1 runs the booter's tests: packets, boots, kills and a failing network. */
  booter: 1,
  /** Runs every nth pair of commands and of operations. */
  pairs: 1,
  /** Minutes of random kills. */
  minutes: 1,
  /** Terminated database connections. The database is killed once per 50 terminations. The soak test uses 10,000. */
  terminations: 2_000,
  /** Kills of a server during a commit: at least one for each of 11 commands at each of 5 places. */
  commits: 60,
  /** Replayed reports of nodes. */
  reports: 100_000,
  /** Rounds with a failing network between servers and database. */
  network: 1,
  /** 1 tests the index builder, which is killed while it publishes an image index. */
  index: 1,
  /** Seconds of load with jumping clocks. */
  clocks: 30,
  /** Instances that are created concurrently. */
  creates: 1_000,
  /** 1 tests that a check catches each mutant of the sources. */
  mutants: 1,
  /** 1 tests the guides about restore and failover. */
  guides: 1,
  /** 1 starts a rack (docs/guides/rack.md) and kills each of its processes in turn. This part needs root. */
  rack: 1,
  /** Pairs of requests whose response times must not differ. */
  timing: 10_000,
} as const;

export type Option = keyof typeof SIZES;

/** Earlier names of options, which still work. */
export const FORMER_NAMES: Readonly<Record<string, Option>> = { planted: "mutants" };

const VITEST = ["npm:vitest", "run", "--config"];

/** The booter's longest test file, which boots emulated machines. */
const BOOTS = "qemu-stress";

/**
 * The parts. Two parts run at a time. The longest come first, so that the end of the run does not wait for one long
 * part. Parts that mostly wait alternate with parts that mostly compute.
 */
export const PARTS: readonly Part[] = [
  { name: "pairs on hosts", option: "pairs", programs: (nth) => [pairs(nth, "operations on instances")] },
  { name: "rack", option: "rack", programs: () => [["tests/stress/rack.ts"]] },
  {
    name: "histories, one half",
    option: "histories",
    programs: (count, seed) => [histories(Math.ceil(count / 2), seed)],
  },
  {
    name: "histories, other half",
    option: "histories",
    programs: (count, seed) => [histories(Math.floor(count / 2), seed + Math.ceil(count / 2))],
  },
  { name: "machines that boot", option: "booter", programs: () => [booter(BOOTS)] },
  {
    name: "terminations",
    option: "terminations",
    programs: (count) => [
      [
        "tests/stress/terminations.ts",
        "--terminations",
        String(count),
        "--database-kills",
        String(Math.ceil(count / 50)),
      ],
    ],
  },
  {
    name: "kills",
    option: "minutes",
    programs: (minutes) => [["tests/stress/kills.ts", "--minutes", String(minutes)]],
  },
  {
    name: "commit kills",
    option: "commits",
    programs: (kills) => [["tests/stress/commit-kills.ts", "--kills", String(kills)]],
  },
  { name: "pairs on nodes", option: "pairs", programs: (nth) => [pairs(nth, "commands on one node")] },
  {
    name: "reports",
    option: "reports",
    programs: (count) => [["tests/stress/reports.ts", "--replays", String(count)]],
  },
  {
    name: "network",
    option: "network",
    programs: (rounds) => [["tests/stress/network.ts", "--rounds", String(rounds)]],
  },
  { name: "pairs on parents", option: "pairs", programs: (nth) => [pairs(nth, "operations on shared parents")] },
  { name: "booter", option: "booter", programs: () => [booter("--exclude", `**/${BOOTS}.ts`)] },
  {
    name: "index",
    option: "index",
    programs: () => [
      ["cli/compile.ts", "index-builder"],
      ["tests/index-builder/kill-stress.ts", "dist/index-builder"],
    ],
  },
  { name: "clocks", option: "clocks", programs: (load_s) => [["tests/stress/clocks.ts", "--seconds", String(load_s)]] },
  {
    name: "creates",
    option: "creates",
    programs: (count) => [["tests/stress/creates.ts", "--creates", String(count)]],
  },
  {
    name: "mutants",
    option: "mutants",
    programs: () => [["tests/stress/mutants/main.ts"]],
  },
  { name: "guides", option: "guides", programs: () => [[...VITEST, "tests/guides/trial-config.ts"]] },
  { name: "timing of keys", option: "timing", programs: (count) => [timing(count, "key")], last: true },
  { name: "timing of old codes", option: "timing", programs: (count) => [timing(count, "expired")], last: true },
  { name: "timing of used codes", option: "timing", programs: (count) => [timing(count, "used")], last: true },
];

function histories(count: number, seed: number): readonly string[] {
  return ["tests/simulator/main.ts", "--histories", String(count), "--seed", String(seed)];
}

function pairs(nth: number, only: string): readonly string[] {
  return ["tests/stress/pairs.ts", "--every", String(nth), "--only", only];
}

function booter(...files: readonly string[]): readonly string[] {
  return [...VITEST, "tests/booter/stress-config.ts", ...files];
}

function timing(count: number, only: string): readonly string[] {
  return ["tests/security/timing-stress.ts", "--pairs", String(count), "--only", only];
}
