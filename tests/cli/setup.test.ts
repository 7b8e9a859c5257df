// Tests `opsctl cn setup plan` and `opsctl cn setup approve`.
import { expect, test } from "vitest";
import type { CnView, SetupProgress } from "../../src/contract/cn.ts";
import { layoutProposal } from "../../src/lib/disk-layout/proposal.ts";
import type { FakeOptions, Server } from "./fake-environment.ts";
import { opsctl } from "./opsctl.ts";
import { node, NODE_ID } from "./records.ts";

const OPERATION_ID = "99999999-0000-4000-8000-000000000009";
const DISKS = [
  { name: "c0t0d0", size_gb: 480 },
  { name: "c1t0d0", size_gb: 4000 },
  { name: "c1t1d0", size_gb: 4000 },
  { name: "c1t2d0", size_gb: 4000 },
  { name: "c9t0d0", size_gb: 0 },
];

type Round = { readonly state?: string; readonly progress?: Partial<SetupProgress>; readonly error?: string };

/** Returns a control plane. Each request for the operation moves the operation to the next of `rounds`. */
function setup(rounds: readonly Round[] = [], disks = DISKS, state: CnView["state"] = "setting_up"): FakeOptions {
  const left = [...rounds];
  let now: Round = {};
  const view = (): CnView =>
    node({
      state,
      last_setup_error: now.error ?? null,
      setup_progress: now.progress === undefined
        ? null
        : { epoch: 1, step: "s", message: null, percent: null, updated_at: "t", ...now.progress },
    });
  const server: Server = ({ path, method }) => {
    if (path.endsWith("/setup-layout-proposal")) return { body: layoutProposal(disks) };
    if (path.endsWith("/approve-setup")) return { body: { ...view(), operation_id: OPERATION_ID } };
    if (path.startsWith("/v1/operations/")) {
      now = left.shift() ?? now;
      const progress = { completed_steps: 1, total_steps: 2, current_step: "reported" };
      return { body: { id: OPERATION_ID, state: now.state ?? "running", progress, error: null, stuck_reason: null } };
    }
    if (method === "GET") return { body: view() };
    throw new Error(`nothing at ${path}`);
  };
  return { server };
}

const approve = ["cn", "setup", "approve", NODE_ID];

test("`setup plan` shows each disk and its use, the pool, and the command that approves the plan", async () => {
  const ran = await opsctl(["cn", "setup", "plan", NODE_ID], setup([], DISKS, "awaiting_setup"));
  expect(ran.out()).toBe(
    `DISK    SIZE     USE       DATA
c0t0d0  480 GB   cache     DESTROYED
c1t0d0  4 TB     raidz1    DESTROYED
c1t1d0  4 TB     raidz1    DESTROYED
c1t2d0  4 TB     raidz1    DESTROYED
c9t0d0  unknown  not used  kept

Pool zones: raidz1, 1 stripe of 3 disks, no spares, 1 cache disk; about 8 TB usable.
All data on 4 disks is destroyed: c0t0d0 c1t0d0 c1t1d0 c1t2d0
Advisory: the tool on the node has the final decision.

To approve it:
  opsctl cn setup approve ${NODE_ID} --layout raidz1 --width 3 --spares 0
`,
  );
});

test("`setup plan` with options shows the layout for these options, and repeats the options in the approve command", async () => {
  const argv = ["--layout", "mirror", "--exclude", "c1t2d0", "--no-cache", "--compress", "zstd"];
  const ran = await opsctl(["cn", "setup", "plan", NODE_ID, ...argv], setup([], DISKS, "awaiting_setup"));
  expect(ran.out()).toMatch(/^c0t0d0 +480 GB +not used +kept$/m);
  expect(ran.out()).toMatch(/^c1t2d0 +4 TB +not used +kept$/m);
  expect(ran.out()).toContain(`  opsctl cn setup approve ${NODE_ID} ${argv.join(" ")}\n`);
});

test("`setup plan` shows why no layout fits", async () => {
  const ran = await opsctl(["cn", "setup", "plan", NODE_ID, "--layout", "raidz3"], setup([], DISKS, "awaiting_setup"));
  expect(ran.code).toBe(0);
  expect(ran.out()).toContain("\nNo layout: no acceptable raidz3 layout is possible with 3 disks\n");
  expect(ran.out()).not.toContain("DESTROYED");
  expect((await opsctl(["cn", "setup", "plan", NODE_ID], setup([], []))).out()).toContain("(no disks announced)");
});

test("`setup plan` rejects options that need --layout", async () => {
  expect((await opsctl(["cn", "setup", "plan", NODE_ID, "--width", "3"], setup([], DISKS, "awaiting_setup"))).code)
    .toBe(2);
});

test("`setup plan --json` prints the answer unchanged", async () => {
  const ran = await opsctl(["cn", "setup", "plan", NODE_ID, "--json"], setup([], DISKS, "awaiting_setup"));
  expect(JSON.parse(ran.out())).toEqual(JSON.parse(JSON.stringify(layoutProposal(DISKS))));
});

test("`setup approve` sends only the options that were given", async () => {
  const ran = await opsctl([...approve, "--layout", "mirror"], setup());
  expect(ran.asked).toMatchObject([{ method: "POST", path: `/v1/cns/${NODE_ID}/approve-setup` }]);
  expect(ran.asked[0]!.body).toEqual({ disk_layout: "mirror" });
  expect(ran.out()).toBe(`Approved setup of CN ${NODE_ID} (state=setting_up); operation ${OPERATION_ID}\n`);
});

test("`setup approve` sends every option, including 0 spares", async () => {
  const options = [
    "--width",
    "3",
    "--spares",
    "0",
    "--exclude",
    "a",
    "--exclude",
    "b",
    "--no-cache",
    "--compress",
    "off",
  ];
  const ran = await opsctl([...approve, "--layout", "raidz1", ...options, "--hostname", "n1"], setup());
  expect(ran.asked[0]!.body).toEqual({
    disk_layout: "raidz1",
    disk_width: 3,
    disk_spares: 0,
    disk_exclude: ["a", "b"],
    disk_cache: false,
    disk_compress: "off",
    hostname: "n1",
  });
});

test.each([[[]], [["--layout", "raid0"]], [["--layout", "mirror", "--timeout", "3"]]])(
  "`setup approve` with the options %j is a usage error",
  async (argv) => {
    const ran = await opsctl([...approve, ...argv], setup());
    expect([ran.code, ran.asked.length]).toEqual([2, 0]);
  },
);

test("on a terminal, `setup approve` shows the affected disks and asks for the hostname", async () => {
  const argv = [...approve, "--layout", "mirror"];
  const wrong = await opsctl(argv, { ...setup(), isTTY: true, typed: ["yes"] });
  expect([wrong.code, wrong.asked.some(({ method }) => method === "POST")]).toEqual([1, false]);
  expect(wrong.err()).toContain("All data on 4 disks is destroyed: c0t0d0 c1t0d0 c1t1d0 c1t2d0");
  const right = await opsctl(argv, { ...setup(), isTTY: true, typed: ["rack1-n4"] });
  expect([right.code, right.asked.at(-1)!.method]).toEqual([0, "POST"]);
  const agreed = await opsctl([...argv, "--yes"], { ...setup(), isTTY: true });
  expect(agreed.asked).toHaveLength(1);
});

const RUN: readonly Round[] = [
  {},
  { progress: { step: "verify", percent: 10 } },
  { progress: { step: "verify", percent: 20 } },
  { progress: { step: "create_pool", message: "zpool create" } },
];

test("`setup approve --wait` prints each step once and then the node", async () => {
  const ran = await opsctl([...approve, "--layout", "mirror", "--wait"], setup([...RUN, { state: "succeeded" }]));
  expect(ran.code).toBe(0);
  expect(ran.err()).toBe("waiting for the machine to fetch its setup bundle\nverify\ncreate_pool: zpool create\n");
  expect(ran.out()).toContain(`CN ${NODE_ID} is set up (state=setting_up)\n`);
});

test("on a terminal, `--wait` rewrites one line with the progress and the time left, and erases the line at the end", async () => {
  const options = { ...setup([...RUN, { state: "succeeded" }]), isTTY: true };
  const ran = await opsctl([...approve, "--layout", "mirror", "--wait", "--yes"], options);
  expect(ran.err()).toContain("\r\u001b[K[20 %, 2 s, at most 45 min left] verify");
  expect(ran.err()).not.toContain("\n");
  expect(ran.err().endsWith("\r\u001b[K")).toBe(true);
});

test("`setup approve --wait` exits 1 with the machine's reason if the setup fails", async () => {
  const end = { state: "unwound", error: "no room" };
  const ran = await opsctl([...approve, "--layout", "mirror", "--wait"], setup([end]));
  expect([ran.code, ran.err()]).toEqual([1, "error: the setup failed: no room\n"]);
});

test("after --timeout the command exits 6, and the setup continues", async () => {
  const ran = await opsctl([...approve, "--layout", "mirror", "--wait", "--timeout", "3"], setup());
  expect(ran.code).toBe(6);
  expect(ran.asked.filter(({ method }) => method === "POST")).toHaveLength(1);
});

test("--wait --json prints one document", async () => {
  const ran = await opsctl(
    [...approve, "--layout", "mirror", "--wait", "--json"],
    setup([...RUN, { state: "succeeded" }]),
  );
  expect(JSON.parse(ran.out())).toMatchObject({ server_uuid: NODE_ID, operation_id: OPERATION_ID });
  expect(ran.err()).toBe("");
});
