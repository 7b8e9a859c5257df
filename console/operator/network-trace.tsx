// Traces a packet of an instance. Each node on the way reports what it would do with the packet.
import type { NetworkTrace, TraceHop } from "../../src/contract/network-trace.ts";
import { PACKET_PROTOCOLS } from "../../src/contract/enums.ts";
import { PORT_MAX } from "../../src/contract/limits.ts";
import { useSignal } from "@preact/signals";
import type { Values } from "../core/action.ts";
import { get } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { counted } from "../core/text.ts";
import { Heading, Link, Problem, Section } from "../parts/basics.tsx";
import { Form } from "../parts/form.tsx";
import { useQuery } from "../parts/use-query.ts";
import { instanceQuery } from "../tenant/queries.ts";

const TONES = { arrives: "ok", leaves: "ok", stops: "bad", unknown: "warn" } as const;

export function NetworkTracePage({ id }: { readonly id: string }) {
  const { data: instance, refusal } = useQuery(instanceQuery(id));
  const found = useSignal<NetworkTrace | null>(null);
  const name = instance?.name ?? id;
  const cli = ({ destination, port, protocol }: Values) => {
    const hasPort = protocol === "tcp" || protocol === "udp";
    return opsctl("network trace", [name, destination || "ADDRESS", ...hasPort ? [port || "PORT"] : []], {
      "--protocol": protocol,
    });
  };
  return (
    <>
      <Heading title={`Trace a packet of ${name}`} above={<Link to={`/instances/${id}`}>{name}</Link>} />
      {refusal !== undefined && <Problem refusal={refusal} lookedFor={`instance ${id}`} />}
      <p class="dim">
        The nodes report what they would do with the first packet of a connection from the instance. No packet is sent.
      </p>
      <Form
        button="Trace"
        onlyReads
        fields={[
          { name: "destination", label: "Address of the receiver", hint: "Also a floating IP" },
          {
            name: "protocol",
            label: "Protocol",
            type: "choice",
            choices: PACKET_PROTOCOLS.map((value) => ({ value, label: value })),
            initial: PACKET_PROTOCOLS[0],
          },
          {
            name: "port",
            label: "Destination port",
            type: "number",
            isOptional: true,
            hint: `0 to ${PORT_MAX}; required for tcp and udp`,
          },
        ]}
        cli={cli}
        onValues={() => (found.value = null)}
        send={async ({ destination, protocol, port }) => {
          const path = `/v1/system/instances/${id}/network-trace`;
          found.value = await get<NetworkTrace>(path, { destination, protocol, port });
        }}
        done={() => {}}
      />
      {found.value !== null && <Answer trace={found.value} />}
    </>
  );
}

function Answer({ trace: { verdict, summary, rule, hops } }: { readonly trace: NetworkTrace }) {
  return (
    <>
      <p class={`sentence ${TONES[verdict]}`} role="status">
        {summary}
        {rule !== null && <span class="dim">Firewall rule: {rule.name}</span>}
      </p>
      {hops.map((hop) => <Hop key={`${hop.server_uuid} ${hop.vpc_id}`} hop={hop} />)}
    </>
  );
}

function Hop({ hop }: { readonly hop: TraceHop }) {
  const { server_uuid, hostname, vpc_id, generation, desired_generation, differences, steps } = hop;
  return (
    <Section title={`On node ${hostname}`}>
      <p class="dim">
        <Link to={`/nodes/${server_uuid}`}>Open the node</Link> <Link to={`/vpcs/${vpc_id}`}>Open the VPC</Link>
      </p>
      {generation !== null && generation < desired_generation && (
        <p class="sentence warn">The node has applied generation {generation} of {desired_generation}.</p>
      )}
      {differences !== null && differences > 0 && (
        <p class="sentence warn">
          The node's router differs from its network document in {counted(differences, "place")}.
        </p>
      )}
      <ol class="plain">{steps.map((step, index) => <li key={index}>{step}</li>)}</ol>
    </Section>
  );
}
