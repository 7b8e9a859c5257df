// The parts of the stress tests: programs that end with 0 on success, and print what they tried, which faults occurred
// and what failed.

export type Part = {
  readonly name: string;
  /** The option with its size. Size 0 leaves it out. */
  readonly option: Option;
  /** The arguments of `deno run -A`, for one program after the other. */
  readonly programs: (size: number, seed: number) => readonly (readonly string[])[];
  /** True for a part that starts after all others, because a busy machine hides the differences that it measures. */
  readonly last?: boolean;
};

/** The sizes of a complete run. */
export const SIZES = {
  /** Simulated histories. */
  histories: 100_000,
  /** 1: the booter's packets, boots, kills and failing network. */
  booter: 1,
  /** Runs every nth pair of commands and of operations. */
  pairs: 1,
  /** Minutes of kills in random order. */
  minutes: 1,
  /** Terminated connections, and a fiftieth as many kills of the database. The soak does 10,000 of them per round. */
  terminations: 2_000,
  /** Kills of a server during a commit. Each of 11 commands at each of 5 places needs one. */
  commits: 60,
  /** Replayed reports of nodes. */
  reports: 100_000,
  /** Rounds on a failing network. */
  network: 1,
  /** 1: kills during a publication of the image index. */
  index: 1,
  /** Seconds of load with jumping clocks. */
  clocks: 30,
  /** Instances that are created at once. */
  creates: 1_000,
  /** 1: mutants of the sources, each of which a check must catch. */
  mutants: 1,
  /** 1: the guides that restore and fail over. */
  guides: 1,
  /** Pairs of requests that must take the same time. */
  timing: 10_000,
} as const;

export type Option = keyof typeof SIZES;

/** Earlier names of options, which still work. */
export const FORMER_NAMES: Readonly<Record<string, Option>> = { planted: "mutants" };

const VITEST = ["npm:vitest", "run", "--config"];

/** Emulated machines: the booter's longest test file. */
const BOOTS = "qemu-stress";

/** The longest first, so that none is left at the end. Parts that wait alternate with parts that compute. */
export const PARTS: readonly Part[] = [
  { name: "pairs on hosts", option: "pairs", programs: (nth) => [pairs(nth, "operations on instances")] },
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
