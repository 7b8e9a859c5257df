// Shows the boot records, the main settings of the boot policy, and the stamps of the staged platform images.
import type { BootPolicy, BootRecord } from "../../src/contract/boot.ts";
import { BOOT_RECORD_STATES } from "../../src/contract/enums.ts";
import { get, getFirst, PAGE_ROWS } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { query as urlQuery } from "../core/router.ts";
import { Facts, Link, State, When } from "../parts/basics.tsx";
import type { Column } from "../parts/list.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { useQuery } from "../parts/use-query.ts";
import { stagedImagesQuery } from "./node-queries.ts";

const COLUMNS: readonly Column<BootRecord>[] = [
  {
    name: "mac",
    title: "MAC",
    width: "160px",
    sorts: true,
    text: ({ mac }) => mac,
    cell: ({ mac }) => <Link to={`/boot/${mac}`} tabIndex={-1}>{mac}</Link>,
  },
  {
    name: "state",
    title: "State",
    sorts: true,
    text: ({ state }) => state,
    cell: ({ state, rescue }) => (
      <>
        <State of={state} />
        {rescue && <span class="warn">rescue</span>}
      </>
    ),
  },
  {
    name: "hostname",
    title: "Hostname",
    sorts: true,
    text: ({ hostname }) => hostname,
    cell: ({ hostname }) => hostname,
  },
  {
    name: "address",
    title: "Address",
    isWideOnly: true,
    text: ({ address }) => address,
    cell: ({ address }) => address,
  },
  {
    name: "image",
    title: "Platform image",
    isWideOnly: true,
    text: ({ assigned_pi }) => assigned_pi,
    cell: ({ assigned_pi }) => assigned_pi,
  },
  {
    name: "updated",
    title: "Changed",
    width: "110px",
    isWideOnly: true,
    sorts: true,
    text: ({ updated_at }) => updated_at,
    cell: ({ updated_at }) => <When at={updated_at} />,
  },
];

export function BootRecords() {
  const { data: policy } = useQuery({
    key: "boot policy",
    kinds: ["boot-policy", "site"],
    read: (signal) => get<BootPolicy>("/v2/cn-boot-policy", undefined, signal),
  });
  const { data: images } = useQuery(stagedImagesQuery);
  const { q = "", state = "" }: Partial<Record<string, string>> = Object.fromEntries(urlQuery.value);
  return (
    <ListPage<BootRecord>
      title="Boot records"
      noun="boot record"
      query={{
        key: `boot ${state}`,
        kinds: ["boot-record"],
        read: (signal) => getFirst<BootRecord>("/v2/cn-boot", { state }, signal),
      }}
      limit={{ rows: PAGE_ROWS, which: "first", others: <ByMac text={q} /> }}
      columns={COLUMNS}
      idOf={({ mac }) => mac}
      open={({ mac }) => `/boot/${mac}`}
      states={BOOT_RECORD_STATES}
      empty={<p>No machine has asked a booter for an address.</p>}
      cli={opsctl("cn boot list", [], { "--state": state })}
      buttons={
        <>
          <Link to="/boot-policy">Boot policy</Link>
          <Link to="/boot-roster">Declared machines</Link>
        </>
      }
    >
      {policy !== undefined && (
        <Facts
          of={{
            "Unknown machines": policy.auto_enroll
              ? "enrol by themselves"
              : `enrol if one of ${policy.allowlist.length} entries allows them`,
            "Platform image of new machines": policy.enrollment_pi,
            "Admin network": policy.admin_network?.ipv4_block,
            "Staged platform images": (images ?? []).map(({ stamp }) => stamp).join(", "),
          }}
        />
      )}
    </ListPage>
  );
}

const MAC = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;

/** Links to the record of a MAC. The link works even if the list does not contain this record. */
function ByMac({ text }: { readonly text: string }) {
  const mac = text.trim().toLowerCase();
  if (!MAC.test(mac)) return <>Enter a whole MAC to open the record of another machine.</>;
  return <Link to={`/boot/${mac}`}>Open the record of {mac}</Link>;
}
