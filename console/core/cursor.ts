// Keeps the cursor of a list on its row while other users and the system add and remove rows.

/** The row that the keyboard acts on. */
export type Cursor = {
  readonly index: number;
  /** The id of the row. Null until the row was read. */
  readonly id: string | null;
};

export const TOP: Cursor = { index: 0, id: null };

/**
 * Returns the cursor among the rows that the list has now. The cursor stays on its row. If the list no longer has this
 * row, the cursor moves to the row that is now at its place.
 * @param idAt - Returns the id of a row; null if the row was not read.
 */
export function followed({ index, id }: Cursor, total: number, idAt: (index: number) => string | null): Cursor {
  const place = Math.max(0, Math.min(total - 1, index));
  const there = idAt(place);
  if (id === null || there === id) return { index: place, id: there };
  // Few rows are added or removed at a time, so the row is near its earlier place.
  for (let far = 1; far < total; far++) {
    for (const near of [place - far, place + far]) {
      if (near >= 0 && near < total && idAt(near) === id) return { index: near, id };
    }
  }
  // If the row at this place was not read, the cursor keeps the id of its own row. That row may be in a part of the
  // list that was not read.
  return { index: place, id: there ?? id };
}
