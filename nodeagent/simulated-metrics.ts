// Simulates the metrics of VMs: each is almost idle, occupies its whole memory, and uses neither disk nor network.
import type { SimulatedVm } from "./simulated-vms.ts";
import type { Sample } from "./sampler.ts";

/** The fraction of a vCPU that an idle guest uses. */
const IDLE_CPU = 0.01;

export function simulatedMetrics(vms: readonly SimulatedVm[], now_ms: number): Sample {
  const running = vms.filter(({ state }) => state === "running");
  return Object.fromEntries(running.map(({ uuid, cpu, memory_bytes, last_modified }) => {
    const up_seconds = Math.max(0, now_ms - Date.parse(last_modified)) / 1_000;
    return [uuid, {
      cpu_seconds: up_seconds * cpu * IDLE_CPU,
      memory_bytes,
      disk_read_bytes: 0,
      disk_written_bytes: 0,
      network_received_bytes: 0,
      network_sent_bytes: 0,
      simulated: true,
    }];
  }));
}
