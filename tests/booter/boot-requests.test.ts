// The booter reports netboot requests to the control plane. These tests check which requests it reports, and how often.
import { expect, test } from "vitest";
import type { DhcpClient } from "../../booter/dhcp/client.ts";
import { openBootRequests } from "../../booter/dhcp/requests.ts";
import { REPORT_AGAIN_MS, REPORTS_PENDING_MAX } from "../../booter/limits.ts";

const MAC = "52:54:00:aa:00:01";
const UEFI: DhcpClient = {
  kind: "uefi",
  class: "PXEClient:Arch:00007",
  arch: 7,
  architecture: "x86_64",
  guid: null,
  relay: null,
};
const IPXE: DhcpClient = { ...UEFI, kind: "ipxe" };
const ARM: DhcpClient = { ...UEFI, kind: "foreign", arch: 11 };

function fixture(send = () => Promise.resolve()) {
  const sent: unknown[] = [];
  let now = 0;
  const requests = openBootRequests({
    send: (_mac, client) => {
      sent.push(client);
      return send();
    },
    now: () => now,
  });
  return { requests, sent, wait: (ms: number) => void (now += ms) };
}

test("an unchanged request is reported again only after REPORT_AGAIN_MS", () => {
  const { requests, sent, wait } = fixture();
  requests.received(MAC, UEFI);
  wait(REPORT_AGAIN_MS);
  requests.received(MAC, UEFI);
  expect(sent).toHaveLength(1);
  wait(1);
  requests.received(MAC, UEFI);
  expect(sent).toHaveLength(2);
});

test("a changed request is reported at once, but a request of iPXE does not replace the request of the firmware", () => {
  const { requests, sent } = fixture();
  requests.received(MAC, UEFI);
  requests.received(MAC, IPXE);
  expect(sent).toHaveLength(1);
  requests.received(MAC, ARM);
  expect(sent[1]).toMatchObject({ arch: 11, has_boot_file: false });
});

test("a request is not reported if a lookup already reported it or if its client does not netboot", () => {
  const { requests, sent } = fixture();
  requests.lookedUp(MAC, UEFI);
  requests.received(MAC, UEFI);
  requests.received(MAC, { ...UEFI, kind: "plain" });
  expect(sent).toEqual([]);
});

test("a report that failed is repeated with the machine's next packet", async () => {
  const { requests, sent } = fixture(() => Promise.reject(new Error("no answer")));
  requests.received(MAC, UEFI);
  await new Promise((wake) => setTimeout(wake, 0));
  requests.received(MAC, UEFI);
  expect(sent).toHaveLength(2);
});

test("at most REPORTS_PENDING_MAX reports are sent at the same time", () => {
  const { requests, sent } = fixture(() => new Promise(() => {}));
  for (let at = 0; at <= REPORTS_PENDING_MAX; at += 1) {
    requests.received(`52:54:00:aa:01:${at.toString(16).padStart(2, "0")}`, ARM);
  }
  expect(sent).toHaveLength(REPORTS_PENDING_MAX);
});
