// Shows one boot record: the settings of operators for the netboot of its machine, and the machine's last request.
import type { BootArguments, BootConsole, BootRecord, BootRecordShown } from "../../src/contract/boot.ts";
import { BOOT_CONSOLES } from "../../src/contract/enums.ts";
import { type Action, useActions } from "../core/action.ts";
import { get, send } from "../core/client.ts";
import { opsctl } from "../core/command.ts";
import { rootOnly } from "../core/session.ts";
import { Actions } from "../parts/actions.tsx";
import { AsCommand, Facts, Heading, Link, Problem, Section, State, When } from "../parts/basics.tsx";
import { Named } from "../parts/named.tsx";
import { useQuery } from "../parts/use-query.ts";

/** The page of one boot record. Its id is the MAC. */
export function BootRecordPage({ id: mac }: { readonly id: string }) {
  const { data: record, refusal } = useQuery({
    key: `boot ${mac}`,
    kinds: ["boot-record"],
    read: (signal) => get<BootRecordShown>(`/v2/cn-boot/${encodeURIComponent(mac)}`, undefined, signal),
  });
  useActions(record === undefined ? [] : bootActions(record));
  const above = <Link to="/boot">Boot records</Link>;
  if (record === undefined) {
    return (
      <>
        <Heading title={mac} above={above} />
        {refusal !== undefined && <Problem refusal={refusal} lookedFor={`boot record of ${mac}`} />}
      </>
    );
  }
  return (
    <>
      <Heading title={record.hostname ?? record.mac} above={above}>
        <State of={record.state} />
        <Actions />
      </Heading>
      {refusal !== undefined && <Problem refusal={refusal} lookedFor={`boot record of ${mac}`} isLate />}
      <Facts
        of={{
          "MAC": record.mac,
          "Address": record.address,
          "Node": record.server_uuid === null ? null : <Named scope="cn" id={record.server_uuid} />,
          "Platform image": record.assigned_pi,
          "Kernel arguments": argumentsText(record.boot_arguments.kernel_args, record.kernel_args),
          "Console": consoleText(record.boot_arguments.console),
          "Rescue": record.rescue ? "from the next netboot on" : "no",
          "First seen": <When at={record.provenance.first_seen_at} />,
          "First seen by": record.provenance.source,
          "Changed": <When at={record.updated_at} />,
        }}
      />
      {record.client !== null && <LastRequest of={record.client} />}
      {record.networking !== null && (
        <Section title="Networking">
          <pre>{JSON.stringify(record.networking, null, 2)}</pre>
        </Section>
      )}
      <AsCommand line={opsctl("cn boot show", [record.mac])} />
    </>
  );
}

/** Shows the last netboot request. The firmware chooses its values, so they do not prove which machine sent it. */
function LastRequest({ of: client }: { readonly of: NonNullable<BootRecordShown["client"]> }) {
  return (
    <Section title="Last netboot request">
      {!client.has_boot_file && (
        <p class="sentence warn">The booter has no boot file for this architecture, so the machine cannot boot.</p>
      )}
      <Facts
        of={{
          "Architecture": client.architecture,
          "Vendor class": client.vendor_class,
          "User class": client.user_class,
          "GUID": client.guid,
          "Relay": client.relay,
          "Seen": <When at={client.seen_at} />,
        }}
      />
    </Section>
  );
}

/** Returns all arguments as text, with the number of arguments that come from labels of the node. */
function argumentsText(all: readonly string[], own: readonly string[]): string | null {
  if (all.length === 0) return null;
  return all.length === own.length ? all.join(" ") : `${all.join(" ")} (${all.length - own.length} from labels)`;
}

/**
 * Returns the console in the form that `opsctl cn boot arguments --console` takes: PORT:SPEED, or "text" for the
 * screen.
 */
function consoleText(console: BootConsole | null): string | null {
  if (console === null) return null;
  return console.port === "text" ? console.port : `${console.port}:${console.speed}`;
}

function setArguments({ mac, kernel_args, console }: BootRecord, path: string): Action {
  const linesOf = (text: string) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const chosen = (port: string) => BOOT_CONSOLES.find((each) => each === port);
  return {
    title: "Set kernel arguments",
    button: "Set",
    notice:
      "The arguments apply from the next netboot on. The arguments that the boot policy has for labels of nodes come first.",
    fields: [
      {
        name: "kernel_args",
        label: "Kernel arguments",
        type: "lines",
        isOptional: true,
        initial: kernel_args.join("\n"),
        hint: "One in each line",
      },
      {
        name: "port",
        label: "Console",
        type: "choice",
        choices: [
          { value: "", label: "the console that the label or the booter sets" },
          ...BOOT_CONSOLES.map((value) => ({ value, label: value === "text" ? "the screen" : value })),
        ],
        initial: console?.port ?? "",
      },
      {
        name: "speed",
        label: "Speed of a serial port",
        type: "number",
        isOptional: true,
        initial: console === null ? "" : String(console.speed),
        hint: "Bits per second. Empty: 115200",
      },
    ],
    refused: rootOnly(),
    cli: ({ kernel_args = "", port = "", speed = "" }) => {
      const set = linesOf(kernel_args);
      return opsctl("cn boot arguments", [mac], {
        "--kernel-arg": set,
        "--console": port === "" || port === "text" || speed === "" ? port : `${port}:${speed}`,
        "--clear": set.length === 0 && port === "",
      });
    },
    send: async ({ kernel_args = "", port = "", speed = "" }, key) => {
      const known = chosen(port);
      const body: { kernel_args: BootArguments["kernel_args"]; console: Partial<BootConsole> | null } = {
        kernel_args: linesOf(kernel_args),
        console: known === undefined ? null : { port: known, ...(speed !== "" && { speed: Number(speed) }) },
      };
      await send("PUT", `${path}/arguments`, { body, key });
    },
  };
}

function bootActions(record: BootRecord): Action[] {
  const { mac, rescue } = record;
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
      "The machine may enrol, and gets an address.",
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
    setArguments(record, path),
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
