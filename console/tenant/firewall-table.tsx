// Shows the rules of a firewall in a table whose cells are edited in place. Alt with the up or down
// arrow key moves a rule in the order of evaluation.
import type { ComponentChildren, JSX } from "preact";
import { FIREWALL_ACTIONS, FIREWALL_DIRECTIONS, FIREWALL_PROTOCOLS } from "../../src/contract/enums.ts";
import { DRAFT_FIELDS, type DraftRow, moved } from "../core/firewall-draft.ts";

type Field = typeof DRAFT_FIELDS[number];

const TITLES: Readonly<Record<Field, string>> = {
  name: "Name",
  direction: "Direction",
  priority: "Priority",
  action: "Action",
  protocol: "Protocol",
  source_cidr: "From",
  destination_cidr: "To",
  destination_ports: "Ports",
};
const CHOICES: Readonly<Partial<Record<Field, readonly string[]>>> = {
  direction: FIREWALL_DIRECTIONS,
  action: FIREWALL_ACTIONS,
  protocol: FIREWALL_PROTOCOLS,
};
/** The width of an input in characters. With these widths, the table fits a window of 1,280 pixels. */
const SIZES: Readonly<Partial<Record<Field, number>>> = { name: 9, priority: 3, destination_ports: 7 };
const SIZE_DEFAULT = 13;

type Props = {
  readonly rows: readonly DraftRow[];
  /** The id of the rule that decides about the packet that the user asked about. Undefined if no rule decides. */
  readonly deciding: string | undefined;
  /** Null if the caller may only read. */
  readonly edit: ((rows: readonly DraftRow[]) => void) | null;
  /** Returns the labels of the rule in the row with this key. */
  readonly labelsOf: (key: string) => ComponentChildren;
};

export function FirewallTable({ rows, deciding, edit, labelsOf }: Props) {
  const move = (event: KeyboardEvent, key: string) => {
    if (edit === null || !event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    edit(moved(rows, key, event.key === "ArrowUp" ? -1 : 1));
  };
  return (
    <div class="scrolls" role="region" aria-label="Firewall rules" tabIndex={0}>
      <table class={edit === null ? undefined : "edited"}>
        <thead>
          <tr>
            {DRAFT_FIELDS.map((field) => <th key={field} scope="col">{TITLES[field]}</th>)}
            <th scope="col">Labels</th>
            {edit !== null && <th scope="col">Change</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={row.key}
              aria-selected={row.key === deciding}
              onKeyDown={(event) => move(event, row.key)}
            >
              {DRAFT_FIELDS.map((field) => (
                <td key={field}>
                  {edit === null ? row[field] || "any" : (
                    <Cell
                      row={row}
                      field={field}
                      set={(value) =>
                        edit(rows.map((each) => each.key === row.key ? { ...each, [field]: value } : each))}
                    />
                  )}
                </td>
              ))}
              <td>{labelsOf(row.key)}</td>
              {edit !== null && (
                <td>
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`Delete ${row.name}`}
                    onClick={() => edit(rows.filter((each) => each.key !== row.key))}
                  >
                    Delete
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ row, field, set }: {
  readonly row: DraftRow;
  readonly field: Field;
  readonly set: (value: string) => void;
}): JSX.Element {
  const label = `${TITLES[field]} of ${row.name || "the new rule"}`;
  const choices = CHOICES[field];
  if (choices !== undefined) {
    return (
      <select aria-label={label} value={row[field]} onChange={(event) => set(event.currentTarget.value)}>
        {choices.map((each) => <option key={each} value={each}>{each}</option>)}
      </select>
    );
  }
  return (
    <input
      aria-label={label}
      value={row[field]}
      size={SIZES[field] ?? SIZE_DEFAULT}
      placeholder={field === "name" ? "name" : "any"}
      spellcheck={false}
      onInput={(event) => set(event.currentTarget.value)}
    />
  );
}
