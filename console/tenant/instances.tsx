// Shows the instances of a project.
import { INSTANCE_STATES } from "../../src/contract/enums.ts";
import type { Instance } from "../../src/contract/instance.ts";
import { tenantctl } from "../core/command.ts";
import { PAGE_ROWS } from "../core/client.ts";
import { go, query as urlQuery } from "../core/router.ts";
import { INSTANCE_COLUMNS, INSTANCE_FIELDS } from "../parts/instance-columns.tsx";
import { AsCommand } from "../parts/basics.tsx";
import { ListPage, SearchAll } from "../parts/list-page.tsx";
import { useKeys } from "../core/keys.ts";
import { words } from "../core/text.ts";
import { inProject, type Place } from "./place.ts";
import { useKept } from "./projects.tsx";
import { instancesQuery } from "./queries.ts";

export function Instances({ place }: { readonly place: Place }) {
  useKept(place);
  const { q = "", state = "" }: Partial<Record<string, string>> = Object.fromEntries(urlQuery.value);
  const create = () => go(inProject(place, "new-instance"));
  useKeys({ c: create });
  return (
    <ListPage<Instance>
      title="Instances"
      noun="instance"
      query={instancesQuery(place, state)}
      limit={{ rows: PAGE_ROWS, which: "oldest", others: <SearchAll text={q} fields={INSTANCE_FIELDS} /> }}
      columns={INSTANCE_COLUMNS}
      idOf={({ id }) => id}
      open={({ id }) => `/instances/${id}`}
      states={INSTANCE_STATES}
      buttons={
        <button type="button" class="primary" aria-keyshortcuts="c" onClick={create}>
          Create an instance <kbd>c</kbd>
        </button>
      }
      empty={
        <>
          <p>{state === "" ? "The project has no instance." : `No instance is ${words(state)}.`}</p>
          <AsCommand
            line={tenantctl("instance create", [], {
              "--name": "web1",
              "--image-id": "IMAGE",
              "--primary-subnet-id": "SUBNET",
              "--cpu": 1,
              "--memory-bytes": "1GiB",
            })}
          />
        </>
      }
      cli={tenantctl("instance list", [], { "--state": state })}
    />
  );
}
