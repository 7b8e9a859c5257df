// The booter decides whether a machine boots, and which image. The decision depends on the state, the address and the
// rescue flag of the machine's boot record, on the client, and on the setting answer_only_pxe (docs/booting.md, "Boot
// records").
import { describe, expect, test } from "vitest";
import { type BootSettings, CLIENT_KINDS, type ClientKind, decide, type Decision } from "../../booter/decision.ts";
import { BOOT_RECORD_STATES } from "../../src/contract/enums.ts";

const POLICY: BootSettings = {
  answer_only_pxe: true,
  enrollment_pi: "enrol-image",
  staged: new Set(["enrol-image", "own-image", "arm64-image"]),
  arm64_images: new Set(["arm64-image"]),
  has_arm64: true,
};
const NETBOOT = CLIENT_KINDS.filter((kind) => kind !== "plain" && kind !== "foreign");

type Row = {
  readonly state: (typeof BOOT_RECORD_STATES)[number] | "none";
  readonly rescue: boolean;
  readonly addressed: boolean;
};

const ROWS: readonly Row[] = (["none", ...BOOT_RECORD_STATES] as const).flatMap((state) =>
  [false, true].flatMap((rescue) => [false, true].map((addressed) => ({ state, rescue, addressed })))
);

function recordOf({ state, rescue, addressed }: Row) {
  if (state === "none") return null;
  const assigned_pi = state === "enrolled" ? "own-image" : null;
  return { state, rescue, address: addressed ? "10.0.0.10" : null, assigned_pi };
}

function cell(row: Row, client: ClientKind, changes: { verified?: boolean; only_pxe?: boolean } = {}): Decision {
  const { verified = true, only_pxe = true } = changes;
  return decide({
    client,
    architecture: "x86_64",
    record: recordOf(row),
    verified,
    policy: { ...POLICY, answer_only_pxe: only_pxe },
  });
}

function describeDecision(decision: Decision): string {
  if (decision.kind === "nothing") return decision.reason;
  return decision.kind === "lease" ? "lease" : `${decision.kind} ${decision.stamp}`;
}

function table(): string {
  const columns = [
    ...CLIENT_KINDS.map((client) => ({ client, only_pxe: true })),
    ...CLIENT_KINDS.map((client) => ({
      client,
      only_pxe: false,
    })),
  ];
  const head = [
    "record",
    "rescue",
    "address",
    ...columns.map(({ client, only_pxe }) => `${client}${only_pxe ? "" : " (any)"}`),
  ];
  const lines = ROWS.map((row) => [
    row.state,
    row.rescue ? "rescue" : "-",
    row.addressed ? "yes" : "no",
    ...columns.map(({ client, only_pxe }) => describeDecision(cell(row, client, { only_pxe }))),
  ]);
  const widths = head.map((_, at) => Math.max(...[head, ...lines].map((line) => line[at]!.length)));
  return [head, ...lines].map((line) => line.map((text, at) => text.padEnd(widths[at]!)).join(" | ").trimEnd()).join(
    "\n",
  );
}

test("every combination of record state, rescue, address, client and answer_only_pxe has the decision in the snapshot", () => {
  expect(ROWS.length * CLIENT_KINDS.length * 2).toBe(240);
  expect(table()).toMatchSnapshot();
});

test("all netboot clients of a machine get the same decision", () => {
  for (const row of ROWS) {
    const decisions = new Set(NETBOOT.map((client) => JSON.stringify(cell(row, client))));
    expect([...decisions]).toHaveLength(1);
  }
});

test.each(["discovered", "decommissioned"] as const)(
  "a machine with a %s record gets nothing without rescue, whatever its client is",
  (state) => {
    for (const client of CLIENT_KINDS) {
      for (const only_pxe of [true, false]) {
        expect(cell({ state, rescue: false, addressed: true }, client, { only_pxe }).kind).toBe("nothing");
      }
    }
  },
);

test.each(BOOT_RECORD_STATES)(
  "a machine whose %s record is in rescue boots the rescue image, but gets nothing without an address",
  (state) => {
    expect(cell({ state, rescue: true, addressed: true }, "bios").kind).toBe("rescue");
    expect(cell({ state, rescue: true, addressed: false }, "bios")).toEqual({ kind: "nothing", reason: "no_address" });
  },
);

describe("while the control plane is unreachable", () => {
  test("an enrolled node boots its own image or the rescue image", () => {
    expect(cell({ state: "enrolled", rescue: false, addressed: true }, "ipxe", { verified: false })).toEqual({
      kind: "local",
      stamp: "own-image",
    });
    expect(cell({ state: "enrolled", rescue: true, addressed: true }, "ipxe", { verified: false }).kind).toBe("rescue");
  });

  test("all other machines get nothing, because no machine enrols from a cached record", () => {
    for (const row of ROWS.filter(({ state }) => state !== "enrolled")) {
      for (const client of CLIENT_KINDS) {
        expect(cell(row, client, { verified: false, only_pxe: false }).kind).toBe("nothing");
      }
    }
  });
});

describe("images", () => {
  const enrolling = { state: "enrolling", rescue: false, address: "10.0.0.10", assigned_pi: "own-image" } as const;
  const ask = (record: Parameters<typeof decide>[0]["record"], changes: Partial<BootSettings>) =>
    decide({ client: "ipxe", architecture: "x86_64", record, verified: true, policy: { ...POLICY, ...changes } });

  test("a machine that enrols gets the policy's image, even if another image of its architecture is assigned to it", () => {
    expect(ask(enrolling, {})).toEqual({ kind: "enrol", stamp: "enrol-image" });
  });

  test("no machine enrols if the policy has no image or its image is not staged", () => {
    expect(ask(enrolling, { enrollment_pi: null })).toEqual({ kind: "nothing", reason: "no_enrollment_image" });
    expect(ask(enrolling, { staged: new Set(["own-image"]) })).toEqual({ kind: "nothing", reason: "image_not_staged" });
  });

  test.each(["../etc", "a/b", "a b", "", "a".repeat(65)])(
    "the image name %j is refused, even if it is staged",
    (stamp) => {
      expect(ask(enrolling, { enrollment_pi: stamp, staged: new Set([stamp]) }).kind).toBe("nothing");
    },
  );

  test("rescue uses the policy's image if the assigned image is not staged", () => {
    const record = { ...enrolling, rescue: true, assigned_pi: "gone-image" };
    expect(ask(record, {})).toEqual({ kind: "rescue", stamp: "enrol-image" });
  });
});

describe("a machine of any architecture", () => {
  const record = (state: "enrolling" | "enrolled", assigned_pi: string | null) => (
    { state, rescue: false, address: "10.0.0.10", assigned_pi }
  );
  const asked = (architecture: "x86_64" | "arm64" | null, of: ReturnType<typeof record>) =>
    describeDecision(decide({ client: "ipxe", architecture, record: of, verified: true, policy: POLICY }));

  test("enrols with its assigned image if only that image has the machine's architecture", () => {
    expect(asked("arm64", record("enrolling", "arm64-image"))).toBe("enrol arm64-image");
    expect(asked("arm64", record("enrolling", "own-image"))).toBe("image_of_other_architecture");
    expect(asked("arm64", record("enrolling", null))).toBe("image_of_other_architecture");
    expect(asked("x86_64", record("enrolling", "arm64-image"))).toBe("enrol enrol-image");
  });

  test("boots only an image of its architecture, or any image if its architecture is unknown", () => {
    expect(asked("arm64", record("enrolled", "arm64-image"))).toBe("local arm64-image");
    expect(asked("x86_64", record("enrolled", "arm64-image"))).toBe("image_of_other_architecture");
    expect(asked(null, record("enrolled", "arm64-image"))).toBe("local arm64-image");
  });
});
