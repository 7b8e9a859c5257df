// Reports netboot requests to the control plane, which shows them with the boot record. The reply to a machine does not
// wait for a report. A report is repeated only when the request changes or after REPORT_AGAIN_MS, so a machine that
// sends many packets causes few calls. When the call fails, the next packet of the machine reports again.
import { REPORT_AGAIN_MS, REPORTS_PENDING_MAX, TRANSACTIONS_MAX } from "../limits.ts";
import { clientReport, type DhcpClient } from "./client.ts";

export type BootRequests = {
  /** Reports the request, if it is due. Returns at once. */
  received(mac: string, client: DhcpClient): void;
  /** Records that a lookup reports the request, so that this request is not due now. */
  lookedUp(mac: string, client: DhcpClient): void;
};

export type BootRequestsOptions = {
  /** Sends the report. May reject. */
  readonly send: (mac: string, client: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly now: () => number;
};

type Reported = { readonly text: string; readonly at: number; readonly is_ipxe: boolean };

export function openBootRequests({ send, now }: BootRequestsOptions): BootRequests {
  const reported = new Map<string, Reported>();
  let pending = 0;

  function isDue(mac: string, next: Reported): boolean {
    const before = reported.get(mac);
    if (before === undefined || next.at - before.at > REPORT_AGAIN_MS || next.at < before.at) return true;
    // The request of iPXE comes after the firmware's request and contains less about the machine. So it does not
    // replace the firmware's request.
    if (next.is_ipxe && !before.is_ipxe) return false;
    return before.text !== next.text;
  }

  function keep(mac: string, entry: Reported): void {
    reported.delete(mac);
    if (reported.size >= TRANSACTIONS_MAX) reported.delete(reported.keys().next().value!);
    reported.set(mac, entry);
  }

  const entryOf = (client: DhcpClient): Reported => ({
    text: JSON.stringify(clientReport(client)),
    at: now(),
    is_ipxe: client.kind === "ipxe",
  });

  return {
    received(mac, client) {
      if (client.kind === "plain") return;
      const entry = entryOf(client);
      if (!isDue(mac, entry) || pending >= REPORTS_PENDING_MAX) return;
      keep(mac, entry);
      pending += 1;
      const failed = () => void (reported.get(mac) === entry && reported.delete(mac));
      send(mac, clientReport(client)).catch(failed).finally(() => pending -= 1);
    },
    lookedUp: (mac, client) => keep(mac, entryOf(client)),
  };
}
