import fc from "fast-check";
import { expect, test } from "vitest";
import type { z } from "zod";
import { LayoutProposal, SetupApproval } from "../../src/contract/setup.ts";
import { approvedLayout, layoutProposal } from "../../src/lib/disk-layout/proposal.ts";
import type { InventoryDisk } from "../../src/lib/disk-layout/disks.ts";

type Body = z.input<typeof SetupApproval>;

/** Returns the layout for the body of an approval. */
const approved = (disks: InventoryDisk[], body: Body) => approvedLayout(disks, SetupApproval.parse(body));
const rack = (count: number, size_gb: number, prefix = "c") =>
  Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}`, size_gb }));

test("a proposal lists stripes, spares, cache, capacity and destroyed disks", () => {
  const disks = [...rack(1, 480, "small"), ...rack(7, 600), ...rack(1, 0, "nosize")];
  expect(layoutProposal(disks)).toEqual({
    disks,
    proposal: {
      layout: "mirror",
      width: 2,
      spares: 1,
      vdevs: [["c0", "c1"], ["c2", "c3"], ["c4", "c5"]].map((disks) => ({ type: "mirror", disks })),
      spare_disks: ["c6"],
      cache_disks: ["small0"],
      capacity_gb: 1_800,
      destroys: ["small0", "c0", "c1", "c2", "c3", "c4", "c5", "c6"],
    },
    supported_layouts: ["single", "mirror", "raidz1", "raidz2", "raidz3"],
  });
});

test("without a usable disk the reply has the error of the layout tool instead of a proposal", () => {
  for (const disks of [[], rack(2, 0)]) {
    expect(layoutProposal(disks)).toMatchObject({ disks, error: "no primary storage disks available" });
    expect(layoutProposal(disks)).not.toHaveProperty("proposal");
  }
});

test("the layout `single` has no width, uses one disk in a vdev without a type, and leaves the other disks unused", () => {
  const made = approved(rack(3, 600), { disk_layout: "single" });
  expect(made).toMatchObject({ proposal: { width: null, vdevs: [{ disks: ["c0"] }], destroys: ["c0"] } });
});

test("without cache the layout does not destroy the smaller disks; it never destroys excluded disks", () => {
  const disks = [...rack(2, 480, "small"), ...rack(4, 600)];
  const destroyed = (approval: Partial<Body>) => {
    const made = approved(disks, { disk_layout: "mirror", ...approval });
    return "error" in made ? made.error : made.proposal.destroys.join(" ");
  };
  expect(destroyed({})).toBe("small0 small1 c0 c1 c2 c3");
  expect(destroyed({ disk_cache: false })).toBe("c0 c1 c2 c3");
  expect(destroyed({ disk_exclude: ["SMALL0", "c3"] })).toBe("small1 c0 c1 c2");
});

test.each<[Partial<Body>, string]>([
  [{ disk_width: 1 }, "invalid width: 1"],
  [{ disk_spares: 3 }, "too many spares (3) for this disk configuration"],
  [{ disk_width: 5 }, "5 is an invalid width for mirroring and 4 disks"],
  [{ disk_layout: "raidz2" }, "no acceptable raidz2 layout is possible with 4 disks"],
  [{ disk_exclude: ["c0,c1"] }, 'invalid disk name: "c0,c1"'],
])("approval %j is rejected with the error of the layout tool", (approval, error) => {
  expect(approved(rack(4, 600), { disk_layout: "mirror", ...approval })).toEqual({ error });
});

test("a proposal matches the contract's schema, and an approval with its values gives the same layout", () => {
  const size = fc.constantFrom(0, 100, 104, 109, 480, 600, 4_000);
  fc.assert(
    fc.property(fc.array(size, { maxLength: 60 }), (sizes) => {
      const disks = sizes.map((size_gb, index) => ({ name: `c${index}`, size_gb }));
      const answer = layoutProposal(disks);
      expect(LayoutProposal.parse(answer)).toEqual(answer);
      if (answer.proposal === undefined) {
        expect(answer.error).toBe("no primary storage disks available");
        return;
      }
      const { layout, width, spares } = answer.proposal;
      expect(approved(disks, { disk_layout: layout, disk_width: width, disk_spares: spares })).toEqual({
        proposal: answer.proposal,
      });
    }),
    { numRuns: 500 },
  );
});
