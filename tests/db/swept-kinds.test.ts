// Tests that the doctor knows each kind of record that PostgreSQL deletes together with another record.
import { expect, test } from "vitest";
import { SWEPT_KINDS } from "../../src/db/maintenance.ts";
import { openTestControlPlane } from "../support/control-plane.ts";

test("SWEPT_KINDS contains every kind whose rows a foreign key deletes, because these rows get no transition", async () => {
  const t = await openTestControlPlane({ resident: false });
  try {
    const { rows } = await t.db.query<{ kind: string }>(
      `select distinct k.kind from pg_constraint c join actor_kind k on c.conrelid = k.table_name::regclass
        where c.contype = 'f' and c.confdeltype = 'c' order by kind`,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ kind }) => kind).filter((kind) => !(SWEPT_KINDS as readonly string[]).includes(kind))).toEqual(
      [],
    );
  } finally {
    await t.close();
  }
});
