// The boot records, the boot policy and the platform images.
import type { BootPolicy, BootRecord } from "../../src/contract/boot.ts";
import { BOOT_RECORD_STATES } from "../../src/contract/enums.ts";
import { type Action, useActions } from "../core/action.ts";
import { get, getAll, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { rootOnly } from "../core/session.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Facts, Heading, Link, Problem, Section, State, When } from "../parts/basics.tsx";
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
  return (
    <ListPage<BootRecord>
      title="Boot records"
      noun="boot record"
      query={{
        key: "boot",
        kinds: ["boot-record"],
        read: (signal) => getAll<BootRecord>("/v2/cn-boot", {}, signal),
      }}
      columns={COLUMNS}
      idOf={({ mac }) => mac}
      open={({ mac }) => `/boot/${mac}`}
      states={BOOT_RECORD_STATES}
      stateOf={({ state }) => state}
      empty={<p>No machine has asked a booter for an address.</p>}
      cli={opsctl("cn boot list")}
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

export function BootRecordPage({ mac }: { readonly mac: string }) {
  const { data: record, refusal } = useQuery({
    key: `boot ${mac}`,
    kinds: ["boot-record"],
    read: (signal) => get<BootRecord>(`/v2/cn-boot/${encodeURIComponent(mac)}`, undefined, signal),
  });
  useActions(record === undefined ? [] : bootActions(record));
  const above = <Link to="/boot">Boot records</Link>;
  if (record === undefined) {
    return (
      <>
        <Heading title={mac} above={above} />
        {refusal !== undefined && <Problem refusal={refusal} />}
      </>
    );
  }
  return (
    <>
      <Heading title={record.hostname ?? record.mac} above={above}>
        <State of={record.state} />
        <Actions />
      </Heading>
      <Facts
        of={{
          "MAC": record.mac,
          "Address": record.address,
          "Node": record.server_uuid === null
            ? null
            : <Link to={`/nodes/${record.server_uuid}`}>{record.server_uuid}</Link>,
          "Platform image": record.assigned_pi,
          "Rescue": record.rescue ? "from the next netboot on" : "no",
          "First seen": <When at={record.provenance.first_seen_at} />,
          "First seen by": record.provenance.source,
          "Changed": <When at={record.updated_at} />,
        }}
      />
      {record.networking !== null && (
        <Section title="Networking">
          <pre>{JSON.stringify(record.networking, null, 2)}</pre>
        </Section>
      )}
      <AsCommand line={opsctl("cn boot show", [record.mac])} />
    </>
  );
}

function bootActions({ mac, rescue }: BootRecord): Action[] {
  const path = `/v2/cn-boot/${encodeURIComponent(mac)}`;
  const plain = (title: string, verb: string, words: string, notice: string, isDangerous = false): Action => ({
    title,
    notice,
    isDangerous,
    refused: rootOnly(),
    cli: () => opsctl(words, [mac]),
    send: async (_, key) => {
      await send("POST", `${path}/${verb}`, { key });
    },
  });
  return [
    plain(
      "Authorize",
      "authorize",
      "cn boot authorize",
      "The machine may enrol, and gets an address of the admin network.",
    ),
    {
      title: "Assign a platform image",
      fields: [{ name: "platform_image", label: "Stamp of the image" }],
      refused: rootOnly(),
      cli: ({ platform_image }) => opsctl("cn boot assign", [mac], { "--pi": platform_image }),
      send: async ({ platform_image }, key) => {
        await send("POST", `${path}/assign`, { body: { platform_image }, key });
      },
    },
    rescue
      ? {
        ...plain("End the rescue", "rescue/clear", "cn boot rescue", "The next netboot is a normal one."),
        cli: () => opsctl("cn boot rescue", [mac], { "--clear": true }),
      }
      : plain("Rescue", "rescue", "cn boot rescue", "The machine boots into rescue from its next netboot on."),
    plain("Reactivate", "reactivate", "cn boot reactivate", "A decommissioned machine may be discovered again."),
    plain(
      "Decommission",
      "decommission",
      "cn boot decommission",
      "The machine no longer boots from the network.",
      true,
    ),
  ];
}
