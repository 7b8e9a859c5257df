// Shows the hardware of a node, as its operating system announced it and as its BMC reports it.
import type { CnView } from "../../src/contract/cn.ts";
import type { NodeHardware as BmcHardware } from "../../src/contract/hardware.ts";
import type { ComponentChildren } from "preact";
import { get } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import type { Query } from "../core/store.ts";
import { bytes } from "../core/text.ts";
import { AsCommand, Facts, Refused, Section, When } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { nodeQuery } from "./node-queries.ts";
import { inventory } from "./node-rows.ts";

/**
 * The change feed does not report new hardware of a node, so the page reads the hardware again after this time, in
 * milliseconds.
 */
const FRESH_MS = 5_000;

/** The answer is null if no booter has read the hardware. */
function hardwareQuery(id: string): Query<BmcHardware | null> {
  return {
    key: `hardware ${id}`,
    kinds: ["cn"],
    fresh_ms: FRESH_MS,
    read: (signal) => get<BmcHardware | null>(`/v1/cns/${id}/hardware`, undefined, signal),
  };
}

export function NodeHardware({ id }: { readonly id: string }) {
  const { data: node } = useQuery(nodeQuery(id));
  if (node === undefined) return null;
  return (
    <>
      <FromBmc node={node} />
      <Announced node={node} />
    </>
  );
}

function FromBmc({ node: { server_uuid, hostname } }: { readonly node: CnView }) {
  const hardware = useQuery(hardwareQuery(server_uuid));
  const { data } = hardware;
  if (data === undefined) return <Refused of={hardware} />;
  if (data !== null) {
    return (
      <>
        <Refused of={hardware} />
        <BmcFacts hardware={data} hostname={hostname} />
      </>
    );
  }
  return (
    <Section title="From the BMC" refusal={hardware.refusal}>
      <p class="dim">
        No booter has read the BMC. Run <code>booter redfish --host BMC inventory --report</code>{" "}
        on the booter's machine.
      </p>
    </Section>
  );
}

function BmcFacts({ hardware, hostname }: { readonly hardware: BmcHardware; readonly hostname: string }) {
  const { system, bmc, processors, memory, drives, ports, firmware } = hardware;
  return (
    <>
      <Section title="From the BMC">
        <Facts
          of={{
            "Manufacturer": system.manufacturer,
            "Model": system.model,
            "Serial number": system.serial_number,
            "BIOS": system.bios_version,
            "Memory": system.memory_bytes === null ? null : bytes(system.memory_bytes),
            "Health": system.health,
            "BMC": bmc === null ? null : [bmc.model, bmc.firmware_version].filter((each) => each !== null).join(", "),
            "Read": <When at={hardware.read_at} />,
          }}
        />
      </Section>
      <Parts
        title="Processors"
        columns={["Name", "Model", "Cores", "Threads", "Health"]}
        rows={processors.map(({ name, model, cores, threads, health }) => [name, model, cores, threads, health])}
      />
      <Parts
        title="Memory modules"
        columns={["Name", "Size", "Part number", "Serial number", "Health"]}
        rows={memory.map((
          { name, size_bytes, part_number, serial_number, health },
        ) => [name, size_bytes === null ? null : bytes(size_bytes), part_number, serial_number, health])}
      />
      <Parts
        title="Drives"
        columns={["Name", "Size", "Model", "Serial number", "Firmware", "Health"]}
        rows={drives.map((
          { name, size_bytes, model, serial_number, firmware_version, health },
        ) => [name, size_bytes === null ? null : bytes(size_bytes), model, serial_number, firmware_version, health])}
      />
      <Parts
        title="Ports"
        columns={["Name", "MAC", "Link", "Mbit/s"]}
        rows={ports.map(({ name, mac, link, speed_mbps }) => [name, mac, link, speed_mbps])}
      />
      <Parts
        title="Firmware"
        columns={["Name", "Version"]}
        rows={firmware.map(({ name, version }) => [name, version])}
      />
      <AsCommand line={opsctl("cn hardware", [hostname])} />
    </>
  );
}

/** A table of parts of one kind; nothing if the BMC shows none. */
function Parts({ title, columns, rows }: {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
}) {
  if (rows.length === 0) return null;
  return (
    <Section title={title} count={rows.length}>
      <div class="scrolls" role="region" aria-label={title} tabIndex={0}>
        <table>
          <thead>
            <tr>{columns.map((column) => <th key={column} scope="col">{column}</th>)}</tr>
          </thead>
          <tbody>
            {rows.map((cells, index) => (
              // The parts have no ids, and are shown in the order in which the BMC lists them.
              <tr key={index}>{cells.map((cell, at) => <td key={columns[at] ?? at}>{cell ?? "–"}</td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function Announced({ node }: { readonly node: CnView }) {
  const entries = Object.entries(inventory(node.sysinfo));
  if (entries.length === 0) return <p class="dim">The node has reported no inventory.</p>;
  const plain = entries.filter(([, value]) => typeof value !== "object" || value === null);
  const nested = entries.filter(([, value]) => typeof value === "object" && value !== null);
  return (
    <>
      <Section title="Announced by the node">
        <Facts of={Object.fromEntries(plain.map(([name, value]) => [name, String(value ?? "")]))} />
      </Section>
      {nested.map(([name, value]) => (
        <Section key={name} title={name}>
          <pre>{JSON.stringify(value, null, 2)}</pre>
        </Section>
      ))}
    </>
  );
}
