// Shows the instances of all tenants. The server filters them by state. If the search has exactly one word that
// the server can search for, the server searches for it. The page searches the rows of the answer for the rest.
import { INSTANCE_STATES } from "../../src/contract/enums.ts";
import type { Instance } from "../../src/contract/instance.ts";
import { getFirst, PAGE_ROWS } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { serverWord } from "../core/filter.ts";
import { query as urlQuery } from "../core/router.ts";
import type { Query } from "../core/store.ts";
import { INSTANCE_COLUMNS, INSTANCE_FIELDS } from "../parts/instance-columns.tsx";
import { ListPage } from "../parts/list-page.tsx";

/** The search begins this long after the last key press, in milliseconds. */
const REST_MS = 200;

function instancesQuery(state: string, q: string): Query<readonly Instance[]> {
  return {
    key: `all instances ${state} ${q}`,
    kinds: ["instance"],
    rest_ms: q === "" ? 0 : REST_MS,
    read: (signal) => getFirst<Instance>("/v1/system/instances", { state, q }, signal),
  };
}

export function Instances() {
  const { q = "", state = "" }: Partial<Record<string, string>> = Object.fromEntries(urlQuery.value);
  const { word, rest } = serverWord(q, INSTANCE_FIELDS);
  return (
    <ListPage<Instance>
      title="All instances"
      noun="instance"
      query={instancesQuery(state, word)}
      limit={{
        rows: PAGE_ROWS,
        which: "oldest",
        others: "Enter one word, a part of a name, a UUID or an address, to search all instances.",
      }}
      rest={rest}
      columns={INSTANCE_COLUMNS}
      idOf={({ id }) => id}
      open={({ id }) => `/instances/${id}`}
      states={INSTANCE_STATES}
      empty={<p>{q === "" && state === "" ? "No tenant has created an instance." : "No instance matches."}</p>}
      cli={opsctl("instance list", word === "" ? [] : [word], { "--state": state })}
    />
  );
}
