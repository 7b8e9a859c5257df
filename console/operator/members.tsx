// Shows the users of a tenant on the tenant's page.
import type { User } from "../../src/contract/identity.ts";
import { PAGE_ROWS } from "../core/client.ts";
import { serverWord } from "../core/filter.ts";
import { query as urlQuery } from "../core/router.ts";
import { counted } from "../core/text.ts";
import { Section } from "../parts/basics.tsx";
import { createdColumn } from "../parts/columns.tsx";
import type { Column } from "../parts/list.tsx";
import { Filters } from "../parts/list-page.tsx";
import { RowList } from "../parts/lists.tsx";
import { useQuery } from "../parts/use-query.ts";
import { membersQuery } from "./directory.ts";

const COLUMNS: readonly Column<User>[] = [
  { name: "name", title: "User", sorts: true, text: ({ username }) => username, cell: ({ username }) => username },
  {
    name: "issuer",
    title: "Signs in with",
    text: ({ issuer }) => issuer ?? "password",
    cell: ({ issuer }) => issuer ?? "password",
  },
  {
    name: "rights",
    title: "Capabilities",
    isWideOnly: true,
    text: ({ capabilities }) => capabilities.join(" "),
    cell: ({ capabilities }) => capabilities.join(", "),
  },
  createdColumn(),
];
const FIELDS = COLUMNS.map(({ name }) => name);

export function Members({ tenant }: { readonly tenant: string }) {
  const { data: first } = useQuery(membersQuery(tenant));
  const q = urlQuery.value.get("q") ?? "";
  const isCut = first?.isCut === true;
  // The server searches only names and UUIDs, and the page searches every column.
  const { word, rest } = isCut ? serverWord(q, FIELDS) : { word: "", rest: q };
  const query = membersQuery(tenant, word);
  const { data, busy, refusal } = useQuery(query);
  const isEmpty = first?.members.length === 0 && !isCut;
  return (
    <Section title="Members" count={isCut ? undefined : first?.members.length}>
      {isCut && (
        <p class="hint">
          {first.members.length === PAGE_ROWS
            ? `The list shows the first ${counted(PAGE_ROWS, "member")}.`
            : `The list shows only members that are among the site's first ${counted(PAGE_ROWS, "user")}.`}{" "}
          Enter one word, a part of a name or a UUID, to search all members.
        </p>
      )}
      {first !== undefined && !isEmpty && <Filters label="Members" />}
      {isEmpty
        ? <p class="dim">The tenant has no users. Create one, or connect an identity provider.</p>
        : (
          <RowList<User>
            label="Members"
            isPart
            columns={COLUMNS}
            listKey={query.key}
            rows={data?.members}
            busy={busy}
            refusal={refusal}
            rest={rest}
            idOf={({ id }) => id}
            empty={<p>{isCut && q === "" ? "No member is among these users." : "No member matches."}</p>}
          />
        )}
    </Section>
  );
}
