// Shows the boot policy and the declared machines, each edited as one document. If someone else has changed the policy,
// the server refuses to overwrite the policy, because the ETag differs.
import type { BootPolicy, Convergence, Roster } from "../../src/contract/boot.ts";
import { useSignal } from "@preact/signals";
import { ask, get, Refusal, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { rootOnly } from "../core/session.ts";
import { store } from "../core/store.ts";
import { say } from "../core/toast.ts";
import { useActions, type Values } from "../core/action.ts";
import { policyChanges, rosterChanges } from "../core/boot-changes.ts";
import { Actions } from "../parts/actions.tsx";
import { Heading, Link, Problem } from "../parts/basics.tsx";
import { Form } from "../parts/form.tsx";
import { useQuery } from "../parts/use-query.ts";

const POLICY = "/v2/cn-boot-policy";
const ROSTER = "/v2/cn-boot-roster";
const above = <Link to="/boot">Boot records</Link>;

type Versioned = { readonly policy: BootPolicy; readonly etag: string };
/** The policy in the form. After a save, `replaced` is the ETag of the version before the save. */
type Opened = Versioned & { readonly replaced?: string };

export function BootPolicyPage() {
  const { data, refusal } = useQuery<Versioned>({
    key: "boot policy with its version",
    kinds: ["boot-policy"],
    read: async (signal) => versioned(await ask<BootPolicy>("GET", POLICY, { signal })),
  });
  // The form keeps the version with which it was opened.
  const opened = useSignal<Opened | null>(null);
  if (data !== undefined && opened.value === null) opened.value = data;
  // From a save until the next read, `data` is the version that the save replaced. This is no change by another user.
  const isChanged = opened.value !== null && data !== undefined && data.etag !== opened.value.etag &&
    data.etag !== opened.value.replaced;
  return (
    <>
      <Heading title="Boot policy" above={above} />
      {refusal !== undefined && <Problem refusal={refusal} />}
      {isChanged && (
        <p class="sentence warn">
          Someone changed the policy while you edited it.{" "}
          <button type="button" onClick={() => (opened.value = data)}>Show the new policy</button>
        </p>
      )}
      {opened.value !== null && (
        <PolicyForm
          key={opened.value.etag}
          of={opened.value}
          saved={(policy) => (opened.value = policy)}
        />
      )}
    </>
  );
}

function versioned({ body, headers }: { readonly body: BootPolicy; readonly headers: Headers }): Versioned {
  return { policy: body, etag: headers.get("etag") ?? "*" };
}

type FormProps = { readonly of: Versioned; readonly saved: (policy: Opened) => void };

function PolicyForm({ of: { policy, etag }, saved }: FormProps) {
  return (
    <Form
      button="Set the policy"
      fields={[
        {
          name: "auto_enroll",
          label: "New machines enrol by themselves",
          type: "toggle",
          initial: policy.auto_enroll ? "true" : "",
        },
        {
          name: "allowlist",
          label: "Machines that may enrol by themselves",
          type: "lines",
          isOptional: true,
          initial: JSON.stringify(policy.allowlist, null, 2),
          hint: 'JSON: a list of entries, such as [{"kind": "mac_prefix", "value": "02:aa:15"}]. ' +
            'The other kind is "service_tag". Empty for all machines',
        },
        {
          name: "enrollment_pi",
          label: "Platform image of new machines",
          isOptional: true,
          initial: policy.enrollment_pi ?? "",
          hint: "A stamp that a booter has staged",
        },
        {
          name: "enrollment_kernel_args",
          label: "Kernel arguments",
          type: "lines",
          isOptional: true,
          initial: policy.enrollment_kernel_args.join("\n"),
          hint: "One in each line",
        },
        {
          name: "admin_network",
          label: "Admin network",
          type: "lines",
          isOptional: true,
          initial: policy.admin_network === null ? "" : JSON.stringify(policy.admin_network, null, 2),
          hint: 'JSON, such as {"ipv4_block": "10.99.0.0/24", "provision_start_ipv4": "10.99.0.100", ' +
            '"provision_end_ipv4": "10.99.0.200", "gateway": "10.99.0.1"}. Empty for no network',
        },
        {
          name: "rack_networks",
          label: "Racks behind relays",
          type: "lines",
          isOptional: true,
          initial: policy.rack_networks.length === 0 ? "" : JSON.stringify(policy.rack_networks, null, 2),
          hint: "JSON: a list of networks, each as the admin network, with a name and the relays outside its block, " +
            'such as [{"name": "rack-a3", "relays": ["10.1.0.1"], …}]. Empty for none',
        },
        {
          name: "label_arguments",
          label: "Arguments of nodes with a label",
          type: "lines",
          isOptional: true,
          initial: policy.label_arguments.length === 0 ? "" : JSON.stringify(policy.label_arguments, null, 2),
          hint: 'JSON, such as [{"label": "gpu=yes", "kernel_args": ["iommu=pt"], ' +
            '"console": {"port": "ttya"}}]. The console may be null. Empty for none',
        },
      ]}
      cli={() => opsctl("cn boot policy apply", [], { "--file": "policy.json" })}
      review={(values) => reviewed(policyChanges(policy, bodyOf(values)))}
      send={async (values, key) => {
        const answer = await ask<BootPolicy>("PUT", POLICY, { body: bodyOf(values), key, ifMatch: etag });
        saved({ ...versioned(answer), replaced: etag });
        return { said: "The boot policy is set" };
      }}
      done={({ said = "" }) => {
        say(said);
        store.changed("all");
      }}
    >
      {rootOnly() !== null && <p class="sentence warn">{rootOnly()}</p>}
    </Form>
  );
}

/** Returns the changes to confirm. Throws a Refusal if the caller lacks permission to make them. */
function reviewed(changes: string): string {
  const refused = rootOnly();
  if (refused !== null) throw new Refusal(403, refused);
  return changes;
}

/** Returns the policy of the form. If a field is not JSON, throws a Refusal that names the field. */
function bodyOf(values: Values): Readonly<Record<keyof BootPolicy, unknown>> {
  const { enrollment_pi = "", enrollment_kernel_args = "", admin_network = "" } = values;
  return {
    auto_enroll: values["auto_enroll"] === "true",
    allowlist: parsed("allowlist", values["allowlist"] || "[]"),
    enrollment_pi: enrollment_pi === "" ? null : enrollment_pi,
    enrollment_kernel_args: enrollment_kernel_args.split("\n").filter((line) => line !== ""),
    admin_network: parsed("admin_network", admin_network || "null"),
    rack_networks: parsed("rack_networks", values["rack_networks"] || "[]"),
    label_arguments: parsed("label_arguments", values["label_arguments"] || "[]"),
  };
}

export function RosterPage() {
  const { data, refusal } = useQuery<Roster>({
    key: "boot roster",
    kinds: ["boot-roster"],
    read: (signal) => get<Roster>(ROSTER, undefined, signal),
  });
  useActions([{
    title: "Apply to older records",
    refused: rootOnly(),
    notice: "Machines that enrolled before the last change of the roster get its networking at their next netboot.",
    cli: () => opsctl("cn boot converge"),
    send: async (_, key) => {
      const { converged, unknown } = await send<Convergence>("POST", `${ROSTER}/converge`, { key });
      return { said: `${converged.length} changed, ${unknown.length} have no record yet` };
    },
  }]);
  return (
    <>
      <Heading title="Declared machines" above={above}>
        <p class="count">{data?.length}</p>
        <Actions />
      </Heading>
      {refusal !== undefined && <Problem refusal={refusal} />}
      {data !== undefined && (
        <Form
          button="Replace the roster"
          fields={[{
            name: "roster",
            label: "Roster",
            type: "lines",
            initial: JSON.stringify(data, null, 2),
            hint: 'JSON: a list of machines, such as [{"hostname": "r1-u1", "macs": ["02:aa:15:2b:6e:77"], ' +
              '"nic_tags": ["admin"]}]. An "aggregate" is optional',
          }]}
          cli={() => opsctl("cn boot roster apply", [], { "--file": "roster.json" })}
          review={({ roster = "" }) => reviewed(rosterChanges(data, parsed("roster", roster)))}
          send={async ({ roster = "" }, key) => {
            await send("PUT", ROSTER, { body: parsed("roster", roster), key });
            return { said: "The roster is replaced" };
          }}
          done={({ said = "" }) => {
            say(said);
            store.changed("all");
          }}
        >
          {rootOnly() !== null && <p class="sentence warn">{rootOnly()}</p>}
        </Form>
      )}
    </>
  );
}

/** Parses the text of a field. If the text is not JSON, throws a Refusal that names the field. */
function parsed(field: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, `${field}: is not JSON: ${error instanceof Error ? error.message : ""}`);
  }
}
