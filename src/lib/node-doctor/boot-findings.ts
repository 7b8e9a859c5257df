// Finds the reasons why a machine cannot netboot (docs/booting.md).
import type { BootClient, BootRecord } from "../../contract/boot.ts";
import type { Finding } from "../../contract/node-diagnosis.ts";
import { bootFileFindings } from "./boot-request-findings.ts";
import type { SiteFacts } from "./facts.ts";
import { stops, warns } from "./finding.ts";

/** Lists why no machine of the site can boot the enrolment image. */
export function enrolmentFindings({ policy, staged }: SiteFacts): Finding[] {
  const pi = policy.enrollment_pi;
  const found: Finding[] = [];
  if (pi === null) {
    found.push(stops("the boot policy names no enrollment_pi, so no machine can boot into enrolment", SET_PI));
  } else if (!staged.includes(pi)) {
    found.push(stops(`the enrolment image ${pi} is not staged on any booter`, `stage it, or: ${SET_PI}`));
  }
  if (policy.admin_network === null && policy.rack_networks.length === 0) {
    const text = "the boot policy has no admin_network, so machines get no address";
    found.push(stops(text, "opsctl cn boot policy apply -f <file with an admin_network>"));
  }
  return found;
}

const SET_PI = "opsctl cn boot policy set --enrollment-pi <stamp>   (stamps: opsctl pi list)";

/** Lists why the machine of a record that is bound to no node is not usable. */
export function machineFindings(record: BootRecord, site: SiteFacts, client: BootClient | null): Finding[] {
  const not_set_up = stops(
    "no node is bound to this port: the machine has not been set up",
    "boot the machine; after it has announced itself, opsctl cn list shows it",
  );
  return [
    ...bootFileFindings(record.mac, client),
    ...enrollingFindings(record, site),
    ...enrolmentFindings(site),
    not_set_up,
  ];
}

/** Lists why the machine of this record cannot enrol, and warns about a rescue. */
export function enrollingFindings(record: BootRecord, site: SiteFacts): Finding[] {
  const { mac, state } = record;
  switch (state) {
    case "discovered":
      return [stops(`boot record ${mac} is discovered: ${whyDiscovered(site)}`, `opsctl cn boot authorize ${mac}`)];
    case "decommissioned":
      return [
        stops(
          `boot record ${mac} is decommissioned: the booter does not answer it`,
          `opsctl cn boot reactivate ${mac}, then opsctl cn boot authorize ${mac}`,
        ),
      ];
    case "enrolling":
      return [...noAddress(record), ...rescueFindings(record, "the enrolment image")];
    case "enrolled":
      return rescueFindings(record, "its platform image");
  }
}

function whyDiscovered({ policy }: SiteFacts): string {
  if (!policy.auto_enroll) return "auto_enroll is off, so each machine must be authorized";
  if (policy.allowlist.length > 0) return "no allowlist rule matched when it was first seen, or no address was free";
  return "no address was free or no admin_network was set when it was first seen";
}

/**
 * Lists why the next netboot of a node that is set up would fail, or would not boot the node's platform image. The node
 * keeps running until then.
 */
export function enrolledFindings(record: BootRecord, { staged }: SiteFacts): Finding[] {
  const { mac, assigned_pi } = record;
  const found = [
    ...noAddress(record).map(({ text, mend }) => warns(text, mend)),
    ...rescueFindings(record, "its platform image"),
  ];
  if (record.state === "decommissioned") {
    found.push(
      warns(`boot record ${mac} is decommissioned: the node cannot netboot`, `opsctl cn boot reactivate ${mac}`),
    );
  }
  if (record.state === "enrolled" && (assigned_pi === null || !staged.includes(assigned_pi))) {
    const text = assigned_pi === null
      ? `boot record ${mac} has no assigned platform image`
      : `the platform image ${assigned_pi} of boot record ${mac} is not staged on any booter`;
    found.push(warns(`${text}; a netboot would fail`, `opsctl cn boot assign ${mac} --pi <stamp>`));
  }
  return found;
}

function noAddress({ mac, address }: BootRecord): Finding[] {
  if (address !== null) return [];
  const text = `boot record ${mac} has no address: the booter does not answer it`;
  return [stops(text, "check the provision range: opsctl cn boot policy show")];
}

function rescueFindings({ mac, rescue }: BootRecord, image: string): Finding[] {
  if (!rescue) return [];
  return [
    warns(
      `boot record ${mac} is in rescue: the next netboot does not boot ${image}`,
      `opsctl cn boot rescue ${mac} --clear`,
    ),
  ];
}
