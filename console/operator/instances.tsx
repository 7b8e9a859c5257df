// Shows the instances of all tenants. The server searches them and filters them by state.
import type { Page } from "../../src/contract/common.ts";
import { INSTANCE_STATES } from "../../src/contract/enums.ts";
import type { Instance } from "../../src/contract/instance.ts";
import { get } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { isPlain } from "../core/filter.ts";
import { query as urlQuery } from "../core/router.ts";
import type { Query } from "../core/store.ts";
import { INSTANCE_COLUMNS } from "../parts/instance-columns.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { useQuery } from "../parts/use-query.ts";

/** The largest number of instances in the list. A site may have 100,000. */
const ROWS_MAX = 1_000;
/** The search begins this long after the last key press, in milliseconds. */
const REST_MS = 200;
const FIELDS = INSTANCE_COLUMNS.map(({ name }) => name);

function instancesQuery(state: string, q: string): Query<readonly Instance[]> {
  return {
    key: `all instances ${state} ${q}`,
    kinds: ["instance"],
    rest_ms: q === "" ? 0 : REST_MS,
    read: async (signal) =>
      (await get<Page<Instance>>("/v1/system/instances", { limit: ROWS_MAX, state, q }, signal)).items,
  };
}

export function Instances() {
  const { q = "", state = "" }: Partial<Record<string, string>> = Object.fromEntries(urlQuery.value);
  const isSearched = isPlain(q, FIELDS);
  const query = instancesQuery(state, isSearched ? q.trim() : "");
  const { data } = useQuery(query);
  return (
    <ListPage<Instance>
      title="All instances"
      noun="instance"
      query={query}
      limit={{ rows: ROWS_MAX, which: "first" }}
      isSearched={isSearched}
      columns={INSTANCE_COLUMNS}
      idOf={({ id }) => id}
      open={({ id }) => `/instances/${id}`}
      states={INSTANCE_STATES}
      empty={<p>No tenant has created an instance.</p>}
      cli={opsctl("instance list", [], { "--state": state })}
    >
      {data?.length === ROWS_MAX && (
        <p class="hint">
          The list shows at most {ROWS_MAX.toLocaleString("en")}{" "}
          instances. Search for a part of a name, a UUID or an address to find others.
        </p>
      )}
    </ListPage>
  );
}
