// When a new instance runs, attaches the floating IP that the user chose in the form. The server refuses to attach it
// earlier. The choice is in memory and not in the address, because a link or the Back button must not move a floating
// IP.
import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Instance, Nic } from "../../src/contract/instance.ts";
import type { FloatingIp } from "../../src/contract/network.ts";
import { get, type Refusal, refusalOf, send } from "../core/client.ts";
import { Problem } from "../parts/basics.tsx";

/** The ids of the chosen floating IPs, by the ids of the new instances. */
const chosen = signal<ReadonlyMap<string, string>>(new Map());

/** Attaches the floating IP as soon as the instance runs and its page is open. */
export function attachLater(instance: string, floatingIp: string): void {
  chosen.value = new Map(chosen.peek()).set(instance, floatingIp);
}

function forget(instance: string): void {
  chosen.value = new Map([...chosen.peek()].filter(([id]) => id !== instance));
}

export function AttachWhenRunning({ instance: { id, lifecycle } }: { readonly instance: Instance }) {
  const floatingIp = chosen.value.get(id);
  const refusal = useSignal<Refusal | null>(null);
  const isRunning = lifecycle.state === "running";
  useEffect(() => {
    if (floatingIp === undefined || !isRunning) return;
    attach(id, floatingIp).then(() => forget(id), (error: unknown) => (refusal.value = refusalOf(error)));
  }, [floatingIp, isRunning]);
  if (refusal.value !== null) return <Problem refusal={refusal.value} />;
  return floatingIp === undefined
    ? null
    : <p class="sentence warn">The floating IP is attached when the instance runs.</p>;
}

/** Attaches the floating IP, unless it was attached to any NIC since the user chose it. */
async function attach(instance: string, floatingIp: string): Promise<void> {
  const path = `/v1/floating-ips/${floatingIp}`;
  if ((await get<FloatingIp>(path)).attached_to !== null) return;
  const { items: [nic] } = await get<{ items: Nic[] }>("/v1/nics", { instance });
  await send("POST", `${path}/attach`, { body: { nic_id: nic?.id }, key: crypto.randomUUID(), respondAsync: true });
}
